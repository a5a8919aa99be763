"""L-BFGS: a quasi-Newton method with limited memory."""

import torch
from torch.optim._line_search import Point, strong_wolfe
from torch.optim.optimizer import Optimizer, check_rate_size, number


class LBFGS(Optimizer):
    """Steps along the gradient times an estimate of the inverse Hessian, kept as the last `history_size` steps.

    One group of parameters only; its state stands with the first of them. `step` needs a closure, which it calls several times.
    """

    def __init__(self, params, lr=1, max_iter=20, max_eval=None, tolerance_grad=1e-7, tolerance_change=1e-9, history_size=100,
                 line_search_fn=None, *, maximize=False):
        check_rate_size(lr)
        if not 0.0 <= lr:
            raise ValueError(f"Invalid learning rate: {lr}")
        if max_eval is None:
            max_eval = max_iter * 5 // 4
        super().__init__(params, {
            "lr": lr, "max_iter": max_iter, "max_eval": max_eval, "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change, "history_size": history_size, "line_search_fn": line_search_fn,
            "maximize": maximize,
        })
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    @torch.no_grad()
    def step(self, closure):
        """Up to `max_iter` steps; `closure` clears the gradients, computes the loss and its gradients, and returns the loss."""
        group = self.param_groups[0]
        with torch.enable_grad():
            first_loss = closure()
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        state["func_evals"] += 1
        grad = self._flat_grad(group)
        if grad.abs().max() <= group["tolerance_grad"]:
            return first_loss
        run = _Run(state, group, self._signed(float(first_loss)), grad)
        while True:
            if not run.choose_direction():
                break
            evaluations = 0
            if group["line_search_fn"] is not None:
                if group["line_search_fn"] != "strong_wolfe":
                    raise RuntimeError("only 'strong_wolfe' is supported")
                evaluations = self._search(run, closure)
                self._move(run.direction, run.length)
            else:
                self._move(run.direction, run.length)
                if run.iterations != group["max_iter"]:
                    run.loss, run.grad = self._evaluate(closure)
                    evaluations = 1
            run.evaluations += evaluations
            state["func_evals"] += evaluations
            if run.is_done():
                break
        run.save(state)
        return first_loss

    def _search(self, run, closure):
        """Sets length, loss and gradient of a step by line search; gives the number of evaluations it took."""
        start = [param.clone(memory_format=torch.contiguous_format) for param in self._params]

        def at(length):
            self._move(run.direction, length)
            loss, grad = self._evaluate(closure)
            for param, kept in zip(self._params, start):
                param.copy_(kept)
            return Point(length, loss, grad, grad.dot(run.direction))

        found, evaluations = strong_wolfe(at, Point(0, run.loss, run.grad, run.slope), run.length, run.direction.abs().max())
        run.length, run.loss, run.grad = found.length, found.loss, found.grad
        return evaluations

    def _evaluate(self, closure):
        with torch.enable_grad():
            loss = float(closure())
        group = self.param_groups[0]
        return self._signed(loss), self._flat_grad(group)

    def _signed(self, loss):
        """The loss as what is to become small."""
        return -loss if self.param_groups[0]["maximize"] else loss

    def _flat_grad(self, group):
        parts = [torch.zeros_like(p).reshape(-1) if p.grad is None else p.grad.reshape(-1) for p in self._params]
        flat = torch.cat(parts)
        return -flat if group["maximize"] else flat

    def _move(self, direction, length):
        start = 0
        for param in self._params:
            count = param.numel()
            param.add_(direction[start : start + count].view_as(param), alpha=number(length))
            start += count


class _Run:
    """What one call of `step` works on."""

    def __init__(self, state, group, loss, grad):
        self.state, self.group = state, group
        self.loss, self.grad = loss, grad
        self.iterations, self.evaluations = 0, 1
        self.direction, self.length = state.get("d"), state.get("t")
        # Changes of the gradient, the steps that led to them, and one over the products of both.
        self.changes, self.steps, self.inverses = state.get("old_dirs"), state.get("old_stps"), state.get("ro")
        self.scale = state.get("H_diag")
        self.last_grad, self.last_loss = state.get("prev_flat_grad"), state.get("prev_loss")
        self.slope = None

    def choose_direction(self):
        """Sets direction and length of the next step; false where the slope is too small for one."""
        group = self.group
        self.iterations += 1
        self.state["n_iter"] += 1
        is_first = self.state["n_iter"] == 1
        if is_first:
            self.direction = self.grad.neg()
            self.changes, self.steps, self.inverses = [], [], []
            self.scale = 1
        else:
            self._remember()
            self.direction = self._newton_direction()
        self.last_grad = self.grad.clone()
        self.last_loss = self.loss
        lr = number(group["lr"])
        self.length = min(1.0, 1.0 / self.grad.abs().sum()) * lr if is_first else lr
        self.slope = self.grad.dot(self.direction)
        return not self.slope > -group["tolerance_change"]

    def _remember(self):
        change, step = self.grad.sub(self.last_grad), self.direction.mul(self.length)
        product = change.dot(step)
        if product > 1e-10:
            if len(self.changes) == self.group["history_size"]:
                for kept in (self.changes, self.steps, self.inverses):
                    kept.pop(0)
            self.changes.append(change)
            self.steps.append(step)
            self.inverses.append(1.0 / product)
            self.scale = product / change.dot(change)

    def _newton_direction(self):
        """The two loops over the memory that multiply by the inverse Hessian."""
        result = self.grad.neg()
        shares = self.state.setdefault("al", [None] * self.group["history_size"])
        for i in reversed(range(len(self.changes))):
            shares[i] = self.steps[i].dot(result) * self.inverses[i]
            result.add_(self.changes[i], alpha=-shares[i].item())
        result = torch.mul(result, self.scale)
        for i in range(len(self.changes)):
            result.add_(self.steps[i], alpha=(shares[i] - self.changes[i].dot(result) * self.inverses[i]).item())
        return result

    def is_done(self):
        """Whether a limit is reached, or too little changes."""
        group = self.group
        return bool(
            self.iterations == group["max_iter"]
            or self.evaluations >= group["max_eval"]
            or self.grad.abs().max() <= group["tolerance_grad"]
            or self.direction.mul(self.length).abs().max() <= group["tolerance_change"]
            or abs(self.loss - self.last_loss) < group["tolerance_change"]
        )

    def save(self, state):
        """Keeps what the next call goes on from."""
        state.update({
            "d": self.direction, "t": self.length, "old_dirs": self.changes, "old_stps": self.steps, "ro": self.inverses,
            "H_diag": self.scale, "prev_flat_grad": self.last_grad, "prev_loss": self.last_loss,
        })
