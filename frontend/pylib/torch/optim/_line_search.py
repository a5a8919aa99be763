"""A line search for the strong Wolfe conditions: the loss falls enough, and its slope flattens enough."""

# How much of the fall that the slope promises is enough, and how much of the slope may be left.
_ENOUGH_FALL, _SLOPE_LEFT = 1e-4, 0.9
_MOST_STEPS = 25


class Point:
    """What is known at one length of the step: loss, gradient, and the slope along the direction."""

    __slots__ = ("length", "loss", "grad", "slope")

    def __init__(self, length, loss, grad, slope):
        self.length, self.loss, self.grad, self.slope = length, loss, grad, slope


def strong_wolfe(at, start, length, reach, tolerance_change=1e-9):
    """The point to step to from `start`, and how often `at(length)` was evaluated, for a first guess of the length.

    `reach` is the largest change of a parameter by a step of length 1.
    """
    search = _Search(at, start)
    bracket, done = search.bracket(length)
    if not done and search.steps < _MOST_STEPS:
        search.zoom(bracket, reach, tolerance_change)
    return bracket[_lower(bracket)], search.evaluations


def _lower(bracket):
    """Which of the points has the lower loss."""
    return 0 if bracket[0].loss <= bracket[-1].loss else 1


def _lowest_of_cubic(one, other, bounds=None):
    """Where the cubic through two points with their slopes is lowest, within bounds, which are the points themselves if not given."""
    low, high = bounds or (min(one.length, other.length), max(one.length, other.length))
    first = one.slope + other.slope - 3 * (one.loss - other.loss) / (one.length - other.length)
    square = first**2 - one.slope * other.slope
    if square < 0:
        return (low + high) / 2.0
    left, right = (one, other) if one.length <= other.length else (other, one)
    root = square.sqrt()
    share = (right.slope + root - first) / (right.slope - left.slope + 2 * root)
    return min(max(right.length - (right.length - left.length) * share, low), high)


class _Search:
    def __init__(self, at, start):
        self.at, self.start = at, start
        self.evaluations = 0
        self.steps = 0

    def evaluate(self, length):
        self.evaluations += 1
        return self.at(length)

    def is_too_high(self, point):
        """Whether the loss didn't fall enough for the length of the step."""
        return point.loss > self.start.loss + _ENOUGH_FALL * point.length * self.start.slope

    def is_flat(self, point):
        return abs(point.slope) <= -_SLOPE_LEFT * self.start.slope

    def bracket(self, length):
        """Two points between which a good one lies, or one that is good already, and whether it is."""
        before, point = self.start, self.evaluate(length)
        while self.steps < _MOST_STEPS:
            if self.is_too_high(point) or self.steps > 1 and point.loss >= before.loss:
                return [before, point], False
            if self.is_flat(point):
                return [point], True
            if point.slope >= 0:
                return [before, point], False
            shortest = point.length + 0.01 * (point.length - before.length)
            length = _lowest_of_cubic(before, point, (shortest, point.length * 10))
            before, point = point, self.evaluate(length)
            self.steps += 1
        return [self.start, point], False

    def zoom(self, bracket, reach, tolerance_change):
        """Narrows the two points down until the lower is good or they are close."""
        low = _lower(bracket)
        slow = False
        while self.steps < _MOST_STEPS:
            if abs(bracket[1].length - bracket[0].length) * reach < tolerance_change:
                break
            length = _lowest_of_cubic(bracket[0], bracket[1])
            shortest, longest = sorted([bracket[0].length, bracket[1].length])
            margin = 0.1 * (longest - shortest)
            close = min(longest - length, length - shortest) < margin
            if close and (slow or length >= longest or length <= shortest):
                # Close to an end twice running, or beyond it: on to a tenth of the way from that end.
                length = longest - margin if abs(length - longest) < abs(length - shortest) else shortest + margin
                close = False
            slow = close
            point = self.evaluate(length)
            self.steps += 1
            if self.is_too_high(point) or point.loss >= bracket[low].loss:
                bracket[1 - low] = point
                low = _lower(bracket)
                continue
            done = self.is_flat(point)
            if not done and point.slope * (bracket[1 - low].length - bracket[low].length) >= 0:
                bracket[1 - low] = bracket[low]
            bracket[low] = point
            if done:
                break
