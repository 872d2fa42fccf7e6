from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from argus.corpora.opening import corpus_file, open_corpus, read_corpus
from argus.data.kb import KnowledgeFolder
from argus.data.storage import (
    Storage,
    child,
    read_bytes,
)
from argus.errors import InputError
from argus.knowledge import KnowledgeSource, read_knowledge
from tests.support.kb import write_kb
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


def files_of(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


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
    here = read_knowledge(open_corpus(tmp_path), KnowledgeSource()).base
    location = Path("s3://bucket/kb")
    write_kb(location, targets=["Q1"])
    assert {k.removeprefix("bucket/kb/") for k in store.objects} == files_of(tmp_path)
    knowledge = read_knowledge(open_corpus(location), KnowledgeSource())
    there, relations = knowledge.base, knowledge.relations
    assert list(there.entities) == list(here.entities)
    assert there.relations.indices.tolist() == here.relations.indices.tolist()
    assert relations == "wikidata"
    assert read_corpus(location) == read_corpus(tmp_path)
    assert corpus_file(location) == Path("s3://bucket/kb/kb.json")
    assert KnowledgeFolder.open(corpus_file(location)).facts["language"] == "en"


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
