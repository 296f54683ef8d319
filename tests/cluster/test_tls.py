"""TLS on the wire: answers are the same, and who has no certificate of the authority gets not even a greeting."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from cluster.serving import SECRET, ranged_index, serving
from fader.cluster.shards.requests import DescribeShard
from fader.cluster.wire.client import ClientSettings, Shards
from fader.cluster.wire.frames import MAGIC
from fader.cluster.wire.server import ShardServer
from fader.cluster.wire.tls import VARIABLES
from fader.errors import ClusterError, IncompleteError, UsageError

pytestmark = pytest.mark.skipif(not shutil.which("openssl"), reason="certificates are made by openssl")
KEY = ("-nodes", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1")
QUICK = ClientSettings(connect_ms=20_000, patience_ms=300, pause_ms=10)


def make_authority(folder: Path) -> Path:
    """A key and a certificate that signs itself."""
    folder.mkdir()
    _openssl(folder, "req", "-x509", *KEY, "-days", "2", "-subj", "/CN=authority", "-keyout", "authority.key",
             "-out", "authority.pem")  # fmt: skip
    return folder


def make_certificate(folder: Path) -> dict[str, str]:
    """A certificate of the authority in a folder, as the environment of a machine."""
    _openssl(folder, "req", *KEY, "-subj", "/CN=machine", "-keyout", "own.key", "-out", "own.csr")
    _openssl(folder, "x509", "-req", "-in", "own.csr", "-CA", "authority.pem", "-CAkey", "authority.key",
             "-CAcreateserial", "-days", "2", "-out", "own.pem")  # fmt: skip
    (folder / "own.key").chmod(0o600)
    return dict(
        zip(VARIABLES, map(str, (folder / "own.pem", folder / "own.key", folder / "authority.pem")), strict=True)
    )


def _openssl(folder: Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return make_certificate(make_authority(tmp_path_factory.mktemp("tls") / "ours"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ranged_index(tmp_path_factory.mktemp("tls") / "index").collection.folder


@pytest.fixture
def secured(files: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment with certificates."""
    for name, path in files.items():
        monkeypatch.setenv(name, path)
    return monkeypatch


@pytest.mark.usefixtures("secured")
def test_answers_are_the_same(folder: Path) -> None:
    """Over one connection after the other, and again over those that are kept."""
    with serving(folder, 3) as served:
        for _ in range(3):
            found = served.client.call_all(DescribeShard())
            assert [type(one) for one in found] == [type(shard.call(DescribeShard())) for shard in served.shards]
            assert found == [shard.call(DescribeShard()) for shard in served.shards]


def test_what_is_sent_cannot_be_read(folder: Path, secured: pytest.MonkeyPatch) -> None:
    """A client without TLS sees no greeting, whether it knows the secret or not."""
    with serving(folder, 1, settings=QUICK) as served:
        address = served.servers[0][0].address
        host, _, port = address.rpartition(":")
        with socket.create_connection((host, int(port)), timeout=20) as plain:
            plain.sendall(b"x" * 100)
            with suppress(ConnectionResetError):
                assert MAGIC not in plain.recv(100)
        secured.setattr("fader.cluster.wire.connections.secure_client", lambda connection: connection)
        with pytest.raises(IncompleteError):
            served.client.call_all(DescribeShard())


def test_a_server_without_tls_is_refused(folder: Path, files: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(folder, 1, settings=QUICK) as served:
        served.client.call_all(DescribeShard())
        other = Shards(SECRET, QUICK)
        other.update(**served.map)
        for name, path in files.items():
            monkeypatch.setenv(name, path)
        monkeypatch.setattr("fader.cluster.wire.server.secure_server", lambda connection: connection)
        with pytest.raises(IncompleteError, match=r"TLS|does not answer|closed|reached"):
            other.call_all(DescribeShard())
        other.close()


def test_a_certificate_of_another_authority_is_refused(
    folder: Path, secured: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """By both ends; the client tells why."""
    with serving(folder, 1, settings=QUICK) as served:
        theirs = make_certificate(make_authority(tmp_path / "theirs"))
        secured.setattr("fader.cluster.wire.connections.secure_client", _client_with(theirs))
        with pytest.raises(IncompleteError, match=r"TLS|closed"):
            served.client.call_all(DescribeShard())
        theirs[VARIABLES[2]] = os.environ[VARIABLES[2]]  # it trusts ours, but shows one of theirs
        secured.setattr("fader.cluster.wire.connections.secure_client", _client_with(theirs))
        with pytest.raises(IncompleteError):
            served.client.call_all(DescribeShard())


def _client_with(given: dict[str, str]):  # type: ignore[no-untyped-def]
    """The client's end with other files than the server's."""
    from fader.cluster.wire import tls

    certificate, key, authority = (given[name] for name in VARIABLES)
    files = tls.TlsFiles(certificate, key, authority, ())
    return lambda connection: tls._context(files, False).wrap_socket(connection, do_handshake_on_connect=False)


def test_files_are_checked_at_the_start(secured: pytest.MonkeyPatch, files: dict[str, str], tmp_path: Path) -> None:
    """Some of three, a key that others can read, a file that is not there: nothing is served without TLS instead."""
    secured.delenv(VARIABLES[2])
    with pytest.raises(UsageError, match=f"{VARIABLES[2]} is not set"):
        ShardServer(SECRET)
    secured.setenv(VARIABLES[2], str(tmp_path / "nothing"))
    with pytest.raises(ClusterError, match=r"nothing: cannot be read: No such file"):
        ShardServer(SECRET)
    secured.setenv(VARIABLES[2], files[VARIABLES[2]])
    key = Path(shutil.copy(files[VARIABLES[1]], tmp_path / "key"))
    key.chmod(0o644)
    secured.setenv(VARIABLES[1], str(key))
    with pytest.raises(ClusterError, match="others can read this private key; chmod 600"):
        ShardServer(SECRET)
