"""TLS on the cluster's wire: optional, mutual, by certificates in files.

    FADER_TLS_CERTIFICATE   the certificate of this machine, with its chain, in PEM
    FADER_TLS_KEY           its private key, which nobody else may read
    FADER_TLS_AUTHORITY     the certificate of the authority that has signed those of all machines of the cluster

All three are set, or none. With them every connection between a client and a shard server is TLS 1.3, and both ends
show a certificate of the authority before the greeting (`frames`) begins; an end without it, or without TLS, is
refused. Which machine shows a certificate does not matter: addresses change, and the authority is the cluster's own.
Files are read again when they have changed, so that a certificate can be renewed without a restart. Knows nothing of
frames.
"""

from __future__ import annotations

import os
import socket
import ssl
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from fader.errors import ClusterError, UsageError

VARIABLES = ("FADER_TLS_CERTIFICATE", "FADER_TLS_KEY", "FADER_TLS_AUTHORITY")


class TlsFiles(NamedTuple):
    """Where certificate, key and authority are, and when they were changed last."""

    certificate: str
    key: str
    authority: str
    changed: tuple[int, ...]


def tls_environment() -> dict[str, str]:
    """The variables that are set, for processes on other machines."""
    return {name: os.environ[name] for name in VARIABLES if os.environ.get(name)}


def find_files() -> TlsFiles | None:
    """The files that the environment names; None where it names none."""
    given = tls_environment()
    if not given:
        return None
    missing = [name for name in VARIABLES if name not in given]
    if missing:
        raise UsageError(f"TLS needs {', '.join(VARIABLES)} together; {missing[0]} is not set")
    certificate, key, authority = (given[name] for name in VARIABLES)
    try:
        stats = [Path(path).stat() for path in (certificate, key, authority)]
    except OSError as error:
        raise ClusterError(f"{error.filename}: cannot be read: {error.strerror}; TLS needs it") from None
    if os.name == "posix" and stats[1].st_mode & 0o077:
        raise ClusterError(f"{key}: others can read this private key; chmod 600 {key}, and use a new one")
    return TlsFiles(certificate, key, authority, tuple(stat.st_mtime_ns for stat in stats))


def secure_server(connection: socket.socket) -> socket.socket:
    """The connection with TLS, where it is wanted, before its handshake."""
    files = find_files()
    if files is None:
        return connection
    return _context(files, True).wrap_socket(connection, server_side=True, do_handshake_on_connect=False)


def secure_client(connection: socket.socket) -> socket.socket:
    """The same for the other end."""
    files = find_files()
    return (
        connection if files is None else _context(files, False).wrap_socket(connection, do_handshake_on_connect=False)
    )


def shake_hands(connection: socket.socket, seconds: float) -> None:
    """Show and check certificates; an `OSError` where one is not accepted."""
    if isinstance(connection, ssl.SSLSocket):
        connection.settimeout(seconds)
        connection.do_handshake()


def peek(connection: socket.socket, flags: int = 0) -> bytes:
    """A byte that has arrived, left there; of an encrypted connection it is one as it was sent."""
    return socket.socket.recv(connection, 1, socket.MSG_PEEK | flags)


@lru_cache(maxsize=8)
def _context(files: TlsFiles, is_server: bool) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if is_server else ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False
    context.verify_mode = ssl.CERT_REQUIRED
    if is_server:
        context.num_tickets = 0  # so that nothing arrives at a client that it has not asked for
    try:
        context.load_cert_chain(files.certificate, files.key, password="")  # an encrypted key is refused, not asked for
        context.load_verify_locations(files.authority)
    except (ssl.SSLError, OSError, ValueError) as error:
        where = f"{files.certificate}, {files.key}, {files.authority}"
        raise ClusterError(f"{where}: no certificate with its key and authority ({error}); give PEM files") from None
    return context
