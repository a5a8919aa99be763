"""`socket` in an engine, which opens none: the names and numbers that other modules ask for when they are imported."""

from enum import IntEnum

error = OSError
timeout = TimeoutError


class herror(OSError):
    """A host is not known."""


class gaierror(OSError):
    """An address is not known."""


class AddressFamily(IntEnum):
    """Kinds of addresses."""

    AF_UNSPEC = 0
    AF_UNIX = 1
    AF_INET = 2
    AF_INET6 = 10


class SocketKind(IntEnum):
    """Kinds of sockets."""

    SOCK_STREAM = 1
    SOCK_DGRAM = 2
    SOCK_RAW = 3


globals().update(AddressFamily.__members__)
globals().update(SocketKind.__members__)
IPPROTO_TCP, TCP_NODELAY, SOL_SOCKET, SO_REUSEADDR, SO_KEEPALIVE, AI_PASSIVE, SHUT_RD, SHUT_WR, SHUT_RDWR = 6, 1, 1, 2, 9, 1, 0, 1, 2
SOMAXCONN, TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_KEEPCNT, INADDR_ANY, NI_NUMERICHOST, NI_NUMERICSERV = 4096, 4, 5, 6, 0, 1, 2
has_ipv6 = False
_GLOBAL_DEFAULT_TIMEOUT = object()


def _refuse(*args, **kwargs):
    """An error: no socket is opened here."""
    raise OSError("this engine opens no sockets")


class socket:
    """A socket: none can be opened."""

    __init__ = _refuse


SocketType = socket
create_connection = create_server = fromfd = getaddrinfo = getfqdn = gethostbyaddr = gethostbyname = gethostname = _refuse
getnameinfo = getservbyname = socketpair = _refuse


def getdefaulttimeout():
    """None."""
    return None


def setdefaulttimeout(timeout):
    """Does nothing: there is no socket to wait for."""


def inet_aton(ip_string):
    """The four bytes of an address."""
    parts = [int(part) for part in ip_string.split(".")]
    if len(parts) != 4:
        raise OSError("illegal IP address string passed to inet_aton")
    return bytes(parts)
