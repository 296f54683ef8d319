"""A build from and to an object store: S3 as moto plays it, by s3fs. Skipped where these are not installed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cluster.corpora import catalog, corpus, files_of
from fader.cluster.build.driver import ClusterBuildOptions, build
from fader.cluster.hosts.cache import local_folder
from fader.cluster.storage import storage_of
from fader.errors import CatalogError, StorageError
from fader.index.verify.check import check
from fader.jobs.runners import InProcess

s3fs = pytest.importorskip("s3fs", reason="s3fs is not installed; pip install s3fs 'moto[server]'")
moto = pytest.importorskip("moto.server", reason="moto is not installed; pip install s3fs 'moto[server]'")
HOW = ClusterBuildOptions(3, piece_bytes=20_000)


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    """A bucket of a server of our own."""
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "any")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "any")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        patch.setenv("AWS_ENDPOINT_URL", "http://{}:{}".format(*server.get_host_and_port()))
        s3fs.S3FileSystem().mkdir("bucket")
        yield "s3://bucket"
        s3fs.S3FileSystem.clear_instance_cache()
    server.stop()


@pytest.fixture(scope="module")
def given(bucket: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A corpus and its catalog, here and there."""
    folder = tmp_path_factory.mktemp("given")
    here = {"corpus": corpus(folder), **catalog(folder)}
    for path in [*here["corpus"], here["entities"], here["types"]]:
        s3fs.S3FileSystem().put_file(path, f"bucket/in/{Path(path).name}")
    names = {"entities": f"{bucket}/in/entities.tsv", "types": f"{bucket}/in/types.tsv"}
    return {"here": here, "there": {"corpus": [f"{bucket}/in/part-*"], **names}}


def built(out: str | Path, given: dict[str, Any], how: ClusterBuildOptions = HOW) -> Any:
    return build(out, given["corpus"], given["entities"], given["types"], how, InProcess())


def test_the_index_is_that_of_a_plain_folder(given: dict[str, Any], bucket: str, tmp_path: Path) -> None:
    """File by file, and so are the counts of faults; nothing else stays in the bucket, and a copy of it is whole."""
    far, near = built(f"{bucket}/index", given["there"]), built(tmp_path / "near", given["here"])
    assert far.built.faults.counts == near.built.faults.counts
    copy = local_folder(f"{bucket}/index", cache=tmp_path / "cache")
    assert files_of(copy) == files_of(tmp_path / "near")
    assert check(copy) == []
    assert set(storage_of(f"{bucket}/index").names()) == set(files_of(copy))
    assert storage_of(f"{bucket}/index").names(".unfinished") == {}
    with pytest.raises(StorageError, match="holds an index already"):
        built(f"{bucket}/index", given["there"])


def test_what_is_wrong_has_the_name_that_was_given(given: dict[str, Any], bucket: str) -> None:
    """A file by its URL and line, not by the copy that was read; a bucket that is not there is not made."""
    s3fs.S3FileSystem().pipe_file("bucket/in/bad.tsv", b"one\tOne\tno_such\t\n")
    with pytest.raises(CatalogError, match=r"^s3://bucket/in/bad\.tsv:1: "):
        built(f"{bucket}/bad", given["there"] | {"entities": f"{bucket}/in/bad.tsv"})
    assert storage_of(f"{bucket}/bad").names(".unfinished") == {}
    with pytest.raises(StorageError, match="s3://nowhere/index"):
        built("s3://nowhere/index", given["there"])
