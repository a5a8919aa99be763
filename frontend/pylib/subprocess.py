"""`subprocess` in an engine, which starts no processes: the names that other modules ask for when they are imported."""

PIPE, STDOUT, DEVNULL = -1, -2, -3


class SubprocessError(Exception):
    """Base of the errors of this module."""


class CalledProcessError(SubprocessError):
    """A process ended with an error."""

    def __init__(self, returncode, cmd, output=None, stderr=None):
        self.returncode, self.cmd, self.output, self.stderr = returncode, cmd, output, stderr

    def __str__(self):
        return f"Command {self.cmd!r} returned non-zero exit status {self.returncode}."


class TimeoutExpired(SubprocessError):
    """A process took too long."""

    def __init__(self, cmd, timeout, output=None, stderr=None):
        self.cmd, self.timeout, self.output, self.stderr = cmd, timeout, output, stderr

    def __str__(self):
        return f"Command {self.cmd!r} timed out after {self.timeout} seconds"


class CompletedProcess:
    """What became of a process."""

    def __init__(self, args, returncode, stdout=None, stderr=None):
        self.args, self.returncode, self.stdout, self.stderr = args, returncode, stdout, stderr


def _refuse(*args, **kwargs):
    """An error: no process is started here."""
    raise OSError("this engine starts no processes")


class Popen:
    """A process: none can be started."""

    __init__ = _refuse

    def __class_getitem__(cls, item):
        return cls


call = check_call = check_output = getoutput = getstatusoutput = run = _refuse


def list2cmdline(seq):
    """The arguments as one text."""
    import shlex

    return shlex.join(seq)
