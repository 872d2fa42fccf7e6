"""What `argus check --sources` writes, serves, refuses and tells."""

import json
import shlex
import subprocess

import numpy as np
import pytest

from argus import StoreCorpus, build_index, check
from argus.data.fields import FieldNames
from argus.data.types import Document, Query
from argus.drift.config import DriftConfig
from argus.drift.job import find_drift
from argus.drift.sources import ABSENT, hashes_of, names_of, read_sources
from argus.errors import InputError
from argus.evaluation.gate import GateBounds, Verdict, gate
from argus.verdict import read_verdict
from tests.support.stored_corpora import ListStore
from tests.support.word_encoder import WordEncoder

PAGES = {
    "ska.md": "# Ska\n\nSka came up in Jamaica before rocksteady and before reggae did so too.",
    "bern.md": "# Bern\n\nBern is the capital of Switzerland and lies in a bend of the river Aare.",
    "aare.txt": "The Aare is a river of Switzerland that flows into the Rhine at Koblenz.",
}
WAS = {
    "ska.md": PAGES["ska.md"].replace("Jamaica", "Trinidad"),
    "bern.md": PAGES["bern.md"],
    "gone.md": "The office in Olten closes at noon on every Friday that is no holiday there.",
}


def chunk(path, text):
    return Document(path[:-3], text, path[:-3], {"source": f"/srv/docs/{path}"})


CHUNKS = [chunk(path, text) for path, text in WAS.items()]


@pytest.fixture
def pages(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    for name, text in PAGES.items():
        (folder / name).write_text(text)
    return folder


def compared(index, pages, tmp_path, **more):
    return find_drift(index, pages, out=tmp_path / "out", **{"encoder": WordEncoder(), **more})


def test_what_drifted_is_queued_with_what_is_served_first_on_top(pages, tmp_path):
    asked = [Query("q1", "when does the office in Olten close"), Query("q2", "capital of Bern")]
    result = compared(CHUNKS, pages, tmp_path, queries=asked, config=DriftConfig(k=1))
    queue = [json.loads(line) for line in (tmp_path / "out/drift.jsonl").read_text().splitlines()]
    told = [
        (row["id"] or row["source"], *map(row.get, ("kind", "action", "rank"))) for row in queue
    ]
    assert told == [
        ("ska", "stale", "re-ingest", 1), ("gone", "orphan", "delete", 1),
        ("aare.txt", "missing", "ingest", None),
    ]  # fmt: skip
    summary = result.summary
    assert summary["path_field"] == "source" and summary["kinds"] == {
        "stale": 1, "orphan": 1, "missing": 1,
    }  # fmt: skip
    assert summary["served"]["stale"] == {"asked": 1, "back": 1, "first": 1}
    assert summary["questions"] == {"asked": 2, "back": 1}
    lines = list(result.headline())
    first = "1 of 3 chunks are stale: their source changed since; 1 of them come back first"
    assert any(line.startswith(first) for line in lines)
    assert "1 of 3 sources are missing: no chunk is of them" in lines
    assert "What is indexed that its source no longer says?" in result.report.read_text()
    verdict = read_verdict(tmp_path / "out")
    count = next(one for one in verdict.counts if one.name == "as_its_source")
    assert (count.count, count.total) == (1, 3)
    assert "--sources" in verdict.actions[0].command


@pytest.mark.parametrize(
    ("bounds", "verdict"),
    [({"max_stale_served": 0.5}, Verdict.FAIL), ({"max_stale_served": 0.7}, Verdict.PASS),
     ({"max_missing": 0.2}, Verdict.FAIL), ({"max_missing": 0.4}, Verdict.PASS)],
)  # fmt: skip
def test_a_gate_holds_what_is_served_and_what_is_missing(bounds, verdict, pages, tmp_path):
    compared(CHUNKS, pages, tmp_path)
    assert gate(tmp_path / "out", GateBounds(**bounds)).verdict is verdict


def test_a_bound_on_what_was_not_asked_for_is_not_measured(pages, tmp_path):
    compared(CHUNKS, pages, tmp_path, config=DriftConfig(ask_at_most=1))
    assert gate(tmp_path / "out", GateBounds(max_stale_served=0.5)).verdict is Verdict.NOT_MEASURED


class Own(ListStore):
    """A store that ranks by dot product."""

    def search(self, vectors, k, *, matching=None, exact=False):
        scores = vectors @ self._records.vectors.T
        ids = self._records.ids
        return [[(ids[i], float(row[i])) for i in np.argsort(-row)[:k]] for row in scores]


class Changing(Own):
    """A store in which a record comes twice, since others are written meanwhile."""

    def iterate(self, size):
        yield from super().iterate(size)
        yield from super().iterate(1)


def test_a_store_is_asked_by_its_vectors_where_nothing_embeds(pages, tmp_path):
    payloads = [{"text": c.text, "title": c.title, **c.metadata} for c in CHUNKS]
    store = Own([c.id for c in CHUNKS], np.eye(3, dtype=np.float32), payloads)
    summary = compared(StoreCorpus(store), pages, tmp_path, encoder=None).summary
    assert summary["asked_by"] == "their own vectors"
    assert summary["kinds"] == {"stale": 1, "orphan": 1, "missing": 1}


def spoilt(pages, tmp_path, how):
    """Return chunks and sources of which something is wrong."""
    rows = [{"id": c.id, "text": c.text} for c in CHUNKS]
    index = tmp_path / "chunks.jsonl"
    if how == "binary":
        (pages / "logo.txt").write_bytes(b"\x89PNG\0\0\xff")
    elif how == "other encodings":
        (pages / "a.md").write_bytes("Z\xfcrich liegt an der Limmat".encode("cp1252"))
        (pages / "b.md").write_bytes("Z\xfcrich liegt an der Limmat".encode("utf-16"))
    elif how == "links":
        (tmp_path / "secret.md").write_text("nothing of this is a source")
        (pages / "out.md").symlink_to(tmp_path / "secret.md")
        (pages / "loop").symlink_to(pages)
    elif how == "changing":
        payloads = [{"text": c.text} for c in CHUNKS]
        return StoreCorpus(Changing([c.id for c in CHUNKS], np.eye(3), payloads)), pages
    elif how == "no ids":
        rows = [{"text": c.text} for c in CHUNKS]
    elif how == "empty":
        pages = tmp_path / "empty"
        pages.mkdir()
    index.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return index, pages


TOLD = {
    "binary": "1 cannot be read", "other encodings": "2 not in UTF-8",
    "links": "1 links out of the folder", "changing": "it changes",
}  # fmt: skip
REFUSED = {"no ids": "id", "empty": "source"}


@pytest.mark.parametrize("how", TOLD)
def test_what_is_odd_is_told_and_stops_nothing(how, pages, tmp_path):
    index, sources = spoilt(pages, tmp_path, how)
    encoder = None if how == "changing" else WordEncoder()
    result = compared(index, sources, tmp_path, encoder=encoder)
    assert TOLD[how] in "\n".join(result.headline())
    assert result.summary["kinds"]["orphan"] == 1
    assert "out.md" not in str(result.table.to_pylist())


@pytest.mark.parametrize("how", REFUSED)
def test_what_cannot_be_compared_is_refused(how, pages, tmp_path):
    with pytest.raises(InputError, match=REFUSED[how]):
        compared(*spoilt(pages, tmp_path, how), tmp_path)
    assert not (tmp_path / "out").exists()


def test_a_check_compares_documents_and_an_index_with_their_sources(pages, tmp_path):
    model = WordEncoder()
    result = check(CHUNKS, sources=pages, encoder=model, out=tmp_path / "out")
    assert result.parts["drift"].summary["kinds"] == {"stale": 1, "orphan": 1, "missing": 1}
    build_index(CHUNKS, out=tmp_path / "index", encoder=model)
    by = {"retriever": str(tmp_path / "index"), "out": tmp_path / "by"}
    result = check(sources=pages, encoder=model, **by)
    assert result.parts["drift"].summary["served"]["stale"]["back"] == 1


def test_sources_are_read_before_anything_is_searched(tmp_path, pages):
    with pytest.raises(InputError, match="nothing that was made of them"):
        check(sources=pages, out=tmp_path / "out")
    with pytest.raises(InputError, match="no such file"):
        check(CHUNKS, sources=tmp_path / "none", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_since_a_commit_only_what_changed_is_told(pages, tmp_path):
    def git(*words):
        name = ["-c", "user.name=a", "-c", "user.email=a@b.example"]
        subprocess.run(["git", *name, *words], cwd=pages, check=True, capture_output=True)

    (pages / "old").mkdir()  # one of the same name that does not change, and is missing too
    (pages / "old" / "new.md").write_text("The Sihl flows from Einsiedeln to the Limmat in Zurich")
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "as it is")
    (pages / "new.md").write_text("The Thur flows from the Churfirsten to the Rhine by Andelfingen")
    found = compared(CHUNKS, pages, tmp_path, config=DriftConfig(since="HEAD"))
    assert [(row["source"], row["kind"]) for row in found.table.to_pylist()] == [
        ("new.md", "missing")
    ]
    for since in ("HEAD~9", "--output=x"):
        with pytest.raises(InputError) as error:
            compared(CHUNKS, pages, tmp_path, config=DriftConfig(since=since))
        assert error.value.where == "--since" and not (pages / "x").exists()


def test_rows_of_a_query_are_sources(tmp_path):
    query = "SELECT 'ska' AS id, 'Ska came from Jamaica before reggae, in the fifties' AS text"
    read = read_sources(f"sql:{query}", FieldNames())
    assert [(d.id, d.text[:3]) for d in read.documents] == [("ska", "Ska")]
    check(list(CHUNKS[:1]), sources=f"sql:{query}", out=tmp_path / "out")
    action = read_verdict(tmp_path / "out").actions[0]
    assert f"sql:{query}" in shlex.split(action.command), "a document without a title is no reason"
    with pytest.raises(InputError, match="nothing"):
        read_sources("sql:SELECT * FROM nothing", FieldNames())


def test_a_field_longer_than_a_path_may_be_names_no_source(pages):
    sources = read_sources(pages, FieldNames())
    chunks = [Document(f"c{i}", "words of nothing", "", {"note": "a" * 400}) for i in range(3)]
    assert names_of(chunks, sources, "note")[2].tolist() == [ABSENT] * 3


def test_a_time_tells_of_a_chunk_without_text(pages):
    name = next(path.name for path in pages.iterdir())
    sources = read_sources(pages, FieldNames())
    row = np.array([[d.id for d in sources.documents].index(name)])
    for year, unchanged in (("2099-01-01", True), ("2001-01-01", False)):
        chunks = [Document("c", "", "", {"source": name, "indexed_at": year})]
        assert hashes_of(chunks, sources, row, None) == (None, [unchanged])


def test_a_log_joins_the_check_and_asks_too(pages, tmp_path):
    log = tmp_path / "log.jsonl"
    rows = [{"question": text, "results": ["ska"]} for text in ("music of Jamaica", "ska music")]
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = check(list(CHUNKS), sources=pages, log=log, out=tmp_path / "out")
    assert [*result.parts] == ["exposure", "drift", "traffic"]
    summary = result.summary
    assert summary["traffic"]["log"]["asks"] == 2
    assert summary["drift"]["questions"] == {"asked": 2, "back": 2}
    verdict = read_verdict(tmp_path / "out")
    assert len(verdict.counts) <= 4 and verdict.counts[0].level == "bad"
