"""`ssl` in an engine, which opens no connections: errors and settings that other modules ask for when they are imported."""

OPENSSL_VERSION = "none"
OPENSSL_VERSION_NUMBER = 0
OPENSSL_VERSION_INFO = (0, 0, 0, 0, 0)
CERT_NONE, CERT_OPTIONAL, CERT_REQUIRED = 0, 1, 2
HAS_SNI = HAS_ALPN = False


class SSLError(OSError):
    """A connection can't be made safe."""


class SSLCertVerificationError(SSLError, ValueError):
    """A certificate isn't valid."""


CertificateError = SSLCertVerificationError


class SSLWantReadError(SSLError):
    """More must be read first."""


class SSLZeroReturnError(SSLError):
    """The connection is closed."""


def _refuse(*args, **kwargs):
    """An error: no connection is made here."""
    raise OSError("this engine opens no connections")


class SSLContext:
    """The settings of safe connections: none can be made."""

    __init__ = _refuse


class SSLSocket:
    """A safe connection: none can be made."""

    __init__ = _refuse


create_default_context = get_default_verify_paths = _create_unverified_context = wrap_socket = _refuse
