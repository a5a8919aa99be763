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
    """The settings of safe connections, which can be made, and connections, which can't."""

    check_hostname = True
    verify_mode = CERT_REQUIRED
    post_handshake_auth = None
    wrap_socket = wrap_bio = load_verify_locations = load_cert_chain = _refuse

    def __init__(self, protocol=None):
        self.protocol = protocol

    def set_alpn_protocols(self, alpn_protocols):
        """Does nothing: there is nobody to agree with."""


def create_default_context(*args, **kwargs):
    """Settings of connections that are never made."""
    return SSLContext()


_create_default_https_context = _create_unverified_context = create_default_context


class SSLSocket:
    """A safe connection: none can be made."""

    __init__ = _refuse


get_default_verify_paths = wrap_socket = _refuse
