from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from argus.corpora.opening import corpus_file, read_corpus
from argus.data.kb import KbWriter, KnowledgeFolder
from argus.data.provenance import describe_large_inputs
from argus.data.storage import (
    FileState,
    Storage,
    child,
    is_remote,
    open_storage,
    read_bytes,
    state_of_file,
)
from argus.errors import ArgusError, InputError
from argus.knowledge import KnowledgeSource, load_knowledge
from tests.support.kb import PARAGRAPHS, batches, entity_rows, write_kb
from tests.support.s3 import Store, s3_store


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """An S3-compatible store, as the environment names it."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    with s3_store() as store:
        environment = {
            "AWS_ENDPOINT_URL": store.url,
            "AWS_ACCESS_KEY_ID": "a",
            "AWS_SECRET_ACCESS_KEY": "b",
            "AWS_EC2_METADATA_DISABLED": "true",
        }
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        yield store


def error_of(location: str | Path) -> str:
    with pytest.raises(InputError) as caught:
        open_storage(location)
    return str(caught.value)


def files_of(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("address", ["{}", "file://{}", "file:{}"])
def test_a_folder_here_is_named_by_path_or_url(tmp_path: Path, address: str) -> None:
    storage = Storage.at(address.format(tmp_path))
    assert storage.local == tmp_path
    storage.write("a/b.txt", b"words")
    assert (tmp_path / "a" / "b.txt").read_bytes() == storage.read("a/b.txt") == b"words"
    assert storage.sizes(["a/b.txt", "a", "none"]) == [5, None, None]
    assert storage.files("a") == ["a/b.txt"]
    assert storage.files("none") == []
    storage.remove("a/b.txt")
    storage.remove("a/b.txt")
    assert storage.files("a") == []


def test_what_cannot_be_written_leaves_what_was_there(
    tmp_path: Path, full_disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = Storage.at(tmp_path)
    storage.write("a", b"before")
    full_disk(Storage, "write", 1000)
    with pytest.raises(OSError, match="File too large"):
        storage.write("a", b"x" * 2000)
    assert files_of(tmp_path) == {"a"}
    assert storage.read("a") == b"before"


def test_addresses_of_stores_are_told_from_paths() -> None:
    remote = ["s3://bucket/x", Path("s3://bucket/x"), "gs://b/x", "gcs:/b/x", "S3://b/x"]
    assert all(map(is_remote, remote))
    assert not any(map(is_remote, ["s3", "s3/x", "/s3:/x", "file:///x", "data:/x", "x/s3://y"]))


def test_a_child_goes_before_the_options_of_an_address() -> None:
    assert child("s3:/b/x/?region=eu-west-1", "kb.json") == "s3://b/x/kb.json?region=eu-west-1"
    assert child(Path("s3://b/x"), "a/b") == "s3://b/x/a/b"
    assert child("/x/", "a") == "/x/a"


@pytest.mark.parametrize("location", ["s3://bucket/deep/er", Path("s3://bucket/deep/er")])
def test_objects_are_written_read_listed_and_removed(store: Store, location: str | Path) -> None:
    storage = Storage.at(location)
    assert storage.local is None
    storage.write("a/b.bin", b"0123456789")
    storage.write("a/c", b"")
    storage.write("a/deeper/d", b"d")
    assert store.objects["bucket/deep/er/a/b.bin"] == b"0123456789"
    assert storage.read("a/b.bin") == b"0123456789"
    with storage.open("a/b.bin") as file:
        file.seek(4)
        assert file.read(3) == b"456"
    assert storage.sizes(["a/b.bin", "none"]) == [10, None]
    assert storage.files("a") == ["a/b.bin", "a/c"]
    storage.remove("a/b.bin")
    storage.remove("a/b.bin")
    assert storage.files("a") == ["a/c"]
    assert storage.files("none") == []
    assert read_bytes(child(location, "a/deeper/d")) == b"d"
    with pytest.raises(InputError, match=r"s3://bucket/deep/er/none: cannot be reached \("):
        read_bytes(child(location, "none"))


def test_a_knowledge_base_in_a_store_is_a_corpus(store: Store, tmp_path: Path) -> None:
    write_kb(tmp_path, targets=["Q1"])
    here, _ = load_knowledge(None, KnowledgeSource(), corpus=tmp_path)
    location = Path("s3://bucket/kb")
    write_kb(location, targets=["Q1"])
    assert {k.removeprefix("bucket/kb/") for k in store.objects} == files_of(tmp_path)
    there, relations = load_knowledge(None, KnowledgeSource(), corpus=location)
    assert list(there.entities) == list(here.entities)
    assert there.relations.indices.tolist() == here.relations.indices.tolist()
    assert relations == "wikidata"
    assert read_corpus(location) == read_corpus(tmp_path)
    assert corpus_file(location) == Path("s3://bucket/kb/kb.json")
    assert KnowledgeFolder.open(corpus_file(location)).facts["language"] == "en"


def test_a_kb_that_is_absent_or_not_whole_in_a_store_is_refused(store: Store) -> None:
    with pytest.raises(InputError, match=r"s3://bucket/kb: no kb.json in it; expected a knowl"):
        read_corpus(Path("s3://bucket/kb"))
    write_kb("s3://bucket/kb")
    store.objects["bucket/kb/aliases/part-00000.parquet"] += b"x"
    with pytest.raises(InputError, match=r"^s3://bucket/kb/aliases/part-00000.parquet: has [\d,]+"):
        read_corpus(Path("s3://bucket/kb"))
    del store.objects["bucket/kb/kb.json"]
    with pytest.raises(InputError, match="s3://bucket/kb: was not finished"):
        read_corpus(Path("s3://bucket/kb"))


def test_a_store_that_takes_no_more_leaves_no_shard(store: Store) -> None:
    writer = KbWriter("s3://bucket/kb")
    store.refused = {"PUT", "POST"}
    with pytest.raises(ArgusError) as caught:
        writer.write("entities", batches("entities", entity_rows(PARAGRAPHS, [])))
    message = str(caught.value)
    assert message.startswith("s3://bucket/kb/entities/part-00000.parquet: cannot be written (")
    assert "ACCESS_DENIED" in message
    assert "Whole are no shards" in message
    assert store.objects == {}


def test_a_store_that_refuses_says_what_to_check(store: Store) -> None:
    write_kb("s3://bucket/kb")
    store.refused = {"GET", "HEAD"}
    with pytest.raises(InputError) as caught:
        KnowledgeFolder.open("s3://bucket/kb")
    message = str(caught.value)
    assert message.startswith("s3://bucket/kb: cannot be reached (")
    assert "expected a bucket and a path. Check the bucket, its region" in message
    assert "AWS_ACCESS_KEY_ID" in message
    assert "AWS_ENDPOINT_URL" in message


def test_options_of_the_address_go_before_the_environment(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    host = store.url.removeprefix("http://")
    address = f"s3://bucket/kb?endpoint_override={host}&scheme=http&region=eu-west-1"
    Storage.at(address).write("a", b"a")
    assert store.objects == {"bucket/kb/a": b"a"}
    assert Storage.at(address).where("a").startswith("s3://bucket/kb/a?endpoint_override=")


def test_addresses_that_cannot_be_are_refused_by_name() -> None:
    assert error_of("ftp://host/x").startswith(
        "ftp://host/x: storage of the kind ftp:// is not known; expected a path, file://, s3:// or"
    )
    assert "Unexpected query parameter" in error_of("s3://bucket/x?colour=red&region=eu-west-1")
    assert error_of("s3://?region=eu-west-1").endswith("address (AWS_ENDPOINT_URL).")


def test_a_files_state_is_size_and_time_here_and_in_a_store(store: Store, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    os.utime(tmp_path / "a", ns=(5, 7_000_000_001))
    assert state_of_file(tmp_path / "a") == FileState(3, 7_000_000_001)
    assert state_of_file(tmp_path) is None and state_of_file(tmp_path / "b") is None
    store.objects["bucket/a"] = b"abcd"
    there = state_of_file("s3://bucket/a")
    assert there is not None and there.bytes == 4
    assert state_of_file("s3://bucket/b") is None
    described = describe_large_inputs(here=tmp_path / "a", there="s3://bucket/a", folder=tmp_path)
    assert described["here"] == {
        "file": str(tmp_path / "a"), "bytes": 3, "changed": "1970-01-01T00:00:07+00:00",
    }  # fmt: skip
    assert described["there"]["bytes"] == 4 and described["folder"] == {"file": str(tmp_path)}


@pytest.mark.parametrize("name", ["corpus.jsonl", "corpus.JSONL.gz", "a/b.parquet", "x.csv?a=b"])
def test_files_of_rows_in_a_store_are_refused_as_such(name: str) -> None:
    with pytest.raises(InputError, match="is a file of rows in an object store") as caught:
        read_corpus(Path(f"s3://bucket/{name}"))
    assert str(caught.value).startswith(f"s3://bucket/{name}: ")
    assert "Copy it here" in str(caught.value)


def test_a_folder_in_a_store_that_is_no_kb_is_refused(
    store: Store,
) -> None:
    store.objects["bucket/beir/corpus.jsonl"] = b"{}"
    with pytest.raises(InputError, match="Nothing but knowledge bases is read from object stores"):
        read_corpus(Path("s3://bucket/beir"))
