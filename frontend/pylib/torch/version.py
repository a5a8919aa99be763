"""The version, for programs that ask."""

from torch import __version__

cuda = None
hip = None
debug = False
git_version = "unknown"
