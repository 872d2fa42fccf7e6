import fcntl
import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from argus.corpora.opening import read_corpus
from argus.data.folders import ArtifactFolder
from argus.engine import EngineConfig
from argus.errors import ArgusError, InputError
from argus.indexes.lexical import LexicalIndex
from argus.kb import build as steps
from argus.kb.build import build_kb
from argus.kb.config import Dumps, KbConfig
from argus.knowledge.sources import EntityRows
from argus.retrievability.audit.config import AuditConfig
from argus.retrievability.audit.job import audit
from tests.support.dumps import item, items_dump, pages_dump
from tests.support.results import shown

TEXT = {
    "Alan Turing": "'''Alan Turing''' was a [[mathematician]] from [[London]] (a city).\n\n== Life",
    "London": "'''London''' is the capital of [[England]], and a city on the [[Thames]].",
    "England": "'''England''' is a country whose capital is [[London|the city]] on the Thames.",
    "Mathematician": "Someone who works on mathematics is called that; [[Alan Turing]] was one.",
    "Turing": "#REDIRECT [[Alan Turing]]",
    "A. Turing": "#REDIRECT [[Turing]]",
    "Mercury": "'''Mercury''' may refer to:\n* [[Mercury (planet)]]\n{{disambiguation}}",
    "Stub": "Too short.",
    "Broken {{template": "'''Unbalanced''' is a page with {{a template that never ends [[London]].",
}
ITEMS = [
    item("Q7251", "Alan Turing", "Alan Turing", aliases=["A. M. Turing"], relations=[
        ("P19", "Q84"), ("P106", "Q170790"), ("P31", "Q5"), ("P19", "Q84", "deprecated")]),
    item("Q84", "London", "London", relations=[("P1376", "Q21"), ("P47", "Q84")]),
    item("Q21", "England", "England", relations=[("P36", "Q84"), ("P36", "Q84")]),
    item("Q170790", "mathematician", "Mathematician"),
    item("Q9", None, "Stub"),
    item("Q308", "Mercury", "Mercury"),
    item("Q5", "human"),
    item("Q11", "nowhere", "Not in the dump"),
    item("Q12", None, "London"),
    "{broken",
]  # fmt: skip


@pytest.fixture(scope="module")
def dumps(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dumps")
    pages = pages_dump(folder / "enwiki.xml.bz2", TEXT)
    items = items_dump(folder / "wikidata.json.gz", ITEMS)
    return Dumps(wikipedia=str(pages), wikidata=str(items))


@pytest.fixture(scope="module")
def built(dumps, tmp_path_factory):
    """A knowledge base of both dumps, for tests that only read it."""
    return build_kb(dumps, out=tmp_path_factory.mktemp("built") / "kb")


def build(source, out, **options):
    """Build in this process."""
    return build_kb(source, out=out, engine=EngineConfig(workers=1), **options)


def shards(folder):
    return json.loads((folder / "kb.json").read_text())["tables"]


def rows(folder, table):
    return pq.read_table(folder / table / "part-00000.parquet").to_pylist()


def test_two_dumps_become_entities_aliases_and_relations(built):
    entities = {e["id"]: e for e in rows(built.folder, "entities")}
    assert list(entities) == ["Q170790", "Q21", "Q7251", "Q84"]
    turing = entities["Q7251"]
    assert turing["paragraph"] == "Alan Turing was a mathematician from London (a city)."
    assert (turing["span_start"], turing["span_end"], turing["prepended"]) == (0, 11, False)
    assert turing["related"] == 2 and turing["target"]
    made_first = entities["Q170790"]
    assert made_first["prepended"] and made_first["span_end"] == len("mathematician")
    relations = rows(built.folder, "relations")
    wikidata = [(r["subject"], r["property"], r["object"]) for r in relations
                if r["source"] == "wikidata"]  # fmt: skip
    assert wikidata == [
        ("Q21", "P36", "Q84"), ("Q7251", "P106", "Q170790"), ("Q7251", "P19", "Q84"),
        ("Q84", "P1376", "Q21"),
    ]  # fmt: skip
    links = {(r["subject"], r["object"]) for r in relations if r["source"] == "hyperlink"}
    assert links == {("Q7251", "Q170790"), ("Q7251", "Q84"), ("Q84", "Q21"), ("Q21", "Q84"),
                     ("Q170790", "Q7251")}  # fmt: skip
    names = {(a["alias"], a["source"]) for a in rows(built.folder, "aliases")
             if a["id"] == "Q7251"}  # fmt: skip
    assert names == {("A. M. Turing", "alias"), ("Turing", "redirect"), ("A. Turing", "redirect")}
    assert built.summary["counts"]["graph"] == "wikidata" and not built.damage


def test_every_page_and_item_has_one_reason(built):
    outcomes = dict(built.summary["outcomes"])
    assert sum(outcomes["wikipedia"].values()) == len(TEXT)
    assert sum(outcomes["wikidata"].values()) == len(ITEMS)
    items = {"entities": 4, "no article": 1, "broken JSON": 1, "article not in the dump": 1}
    assert items.items() <= outcomes["wikidata"].items()
    assert outcomes["wikidata"]["no label"] == 2 and outcomes["wikidata"]["disambiguation"] == 1
    assert outcomes["wikidata relations left out"] == {
        "to no entity": 1, "self-loop": 1, "duplicate": 1, "deprecated": 1,
    }  # fmt: skip


def test_the_folder_is_a_corpus_to_other_commands(built, tmp_path):
    documents = {d.id: d for d in read_corpus(built.folder)}
    assert documents["Q84"].title == "London"
    assert documents["Q7251"].metadata["aliases"] == ["A. M. Turing", "A. Turing", "Turing"]
    words = LexicalIndex.open(built.folder / "words")
    assert words.search(["mathematician from London"], 1).ids == [["Q7251"]]
    audited = audit(
        built.folder, out=tmp_path / "audit", config=AuditConfig(k=(1,), pool=(2,)),
        encoder=_Letters(),
    )  # fmt: skip
    assert audited.summary["entities"]["measured"] == 4
    assert audited.summary["relations_from"] == "wikidata"
    assert "What became of the input?" in (built.folder / "report.html").read_text()


class _Letters:
    """Counts of letters: enough to rank four paragraphs."""

    fingerprint, dim, pools_spans = "letters", 26, False

    def encode_documents(self, texts):
        import numpy as np

        counts = np.array([[1 + t.lower().count(chr(97 + i)) for i in range(26)] for t in texts])
        return (counts / np.linalg.norm(counts, axis=1, keepdims=True)).astype(np.float32)

    encode_queries = encode_documents

    def encode_spans(self, texts, spans):
        return self.encode_documents(texts)


@pytest.mark.parametrize("packs", [("plain", "bz2"), ("gz", "plain"), ("bz2", "bz2")])
def test_any_compression_of_either_dump_gives_the_same_shards(packs, built, tmp_path):
    pages = pages_dump(tmp_path / "pages", TEXT, pack=packs[0])
    items = items_dump(tmp_path / "items", ITEMS, pack=packs[1])
    build(Dumps(wikipedia=str(pages), wikidata=str(items)), tmp_path / "other")
    assert shards(tmp_path / "other") == shards(built.folder)


def test_the_same_build_again_changes_nothing_and_says_so(built, dumps):
    before = (built.folder / "kb.json").stat().st_mtime_ns
    again = build_kb(dumps, out=built.folder)
    assert again.unchanged and (built.folder / "kb.json").stat().st_mtime_ns == before


def test_a_shard_that_is_gone_or_another_setting_make_it_again(dumps, tmp_path):
    build(dumps, tmp_path / "kb")
    shutil.rmtree(tmp_path / "kb" / "aliases")
    with pytest.raises(InputError, match="is missing"):
        read_corpus(tmp_path / "kb")
    assert not build(dumps, tmp_path / "kb").unchanged
    assert len(read_corpus(tmp_path / "kb")) == 4
    assert not build(dumps, tmp_path / "kb", config=KbConfig(min_words=6)).unchanged


def test_another_language_is_refused_before_any_writing(dumps, tmp_path):
    german = pages_dump(tmp_path / "dewiki.xml.bz2", TEXT, lang="de")
    with pytest.raises(InputError, match="a dump of dewiki") as caught:
        build_kb(Dumps(wikipedia=str(german)), out=tmp_path / "kb")
    assert "--lang de" in str(caught.value) and not (tmp_path / "kb").exists()
    built = build(Dumps(wikipedia=str(german)), tmp_path / "kb", config=KbConfig(language="de"))
    assert built.summary["counts"]["entities"] == 5  # with "Broken {{template"


def test_dumps_given_the_wrong_way_round_are_told(dumps, tmp_path):
    with pytest.raises(InputError, match="a JSON dump") as caught:
        build_kb(Dumps(wikidata=dumps.wikipedia), out=tmp_path / "kb")
    assert "Wikidata" in str(caught.value)
    with pytest.raises(InputError, match="MediaWiki"):
        build_kb(Dumps(wikipedia=dumps.wikidata), out=tmp_path / "kb")


def test_a_limit_takes_the_first_records(dumps, tmp_path):
    built = build(dumps, tmp_path / "kb", config=KbConfig(limit=3))
    assert sum(dict(built.summary["outcomes"])["wikipedia"].values()) == 3
    assert built.summary["counts"]["entities"] == 3


def test_a_sample_brings_related_entities_along(dumps, tmp_path):
    built = build(dumps, tmp_path / "kb", config=KbConfig(sample=1, seed=3))
    entities = rows(tmp_path / "kb", "entities")
    assert sum(e["target"] for e in entities) == built.summary["counts"]["targets"] == 1
    drawn = next(e for e in entities if e["target"])
    assert len(entities) == 1 + drawn["related"]
    again = build(dumps, tmp_path / "again", config=KbConfig(sample=1, seed=3))
    assert again.summary["counts"] == built.summary["counts"]
    assert shards(tmp_path / "again") == shards(tmp_path / "kb")


def test_a_limit_takes_the_first_entities_of_other_sources_too(tmp_path):
    lines = [json.dumps({"id": f"e{i}", "label": f"Entity {i}", "links": [f"e{i + 1}"],
                         "text": f"Entity {i} is the one after entity {i - 1}."})
             for i in range(9)]  # fmt: skip
    (tmp_path / "entities.jsonl").write_text("\n".join(lines))
    source = EntityRows(tmp_path / "entities.jsonl")
    built = build_kb(source, out=tmp_path / "kb", config=KbConfig(limit=4, words=False))
    assert [e["id"] for e in rows(tmp_path / "kb", "entities")] == ["e0", "e1", "e2", "e3"]
    assert built.summary["counts"]["relations"] == {"hyperlink": 3}
    assert dict(built.summary["outcomes"])["source"]["entities beyond --limit"] == 5


def test_a_second_build_into_the_same_folder_is_kept_out(dumps, tmp_path):
    whole = build(dumps, tmp_path / "kb").folder
    before = {path: path.stat().st_mtime_ns for path in whole.rglob("*")}
    with (whole / ".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for out, options in (("kb", {}), ("kb", {"fresh": True}), ("b", {"shards": str(whole)})):
            with pytest.raises(ArgusError, match="kb is in use by another kb build"):
                build(dumps, tmp_path / out, **options)
    assert before == {path: path.stat().st_mtime_ns for path in whole.rglob("*")}
    assert build(dumps, tmp_path / "kb", fresh=True).summary["counts"]["entities"] == 4


def test_what_a_build_writes_is_recorded_for_fresh(dumps, built, tmp_path):
    contents = {path.name for path in built.folder.iterdir()} - {".argus", ".lock"}
    assert {"entities", "words", "kb.json", "report.html"} < contents
    assert contents <= ArtifactFolder(built.folder).recorded()
    apart = build(dumps, tmp_path / "apart", shards=str(tmp_path / "shards")).folder
    assert "entities" not in ArtifactFolder(apart).recorded()


def test_the_folder_is_locked_until_the_report_is_there(dumps, tmp_path, monkeypatch):
    seen = []

    def locked(step):
        def checked(*given, **options):
            with (tmp_path / "kb" / ".lock").open() as lock, pytest.raises(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            seen.append(step.__name__)
            return step(*given, **options)

        return checked

    for step in (steps.finish, steps.findings, steps.write_words, steps.write_report):
        monkeypatch.setattr(steps, step.__name__, locked(step))
    monkeypatch.setattr(ArtifactFolder, "open", locked(ArtifactFolder.open))
    build(dumps, tmp_path / "kb", fresh=True)
    assert seen == ["open", "finish", "findings", "write_words", "write_report"]
    with (tmp_path / "kb" / ".lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # and free when it is done


def test_manifest_and_report_have_dumps_by_size_and_time(dumps, built):
    inputs = json.loads((built.folder / "manifest.json").read_text())["kb"]["inputs"]
    for name, location in (("wikipedia", dumps.wikipedia), ("wikidata", dumps.wikidata)):
        status = Path(location).stat()
        expected = datetime.fromtimestamp(status.st_mtime, UTC)
        assert inputs[name].keys() == {"file", "bytes", "changed"}
        assert (inputs[name]["file"], inputs[name]["bytes"]) == (location, status.st_size)
        changed = datetime.fromisoformat(inputs[name]["changed"])
        assert abs(changed - expected) < timedelta(milliseconds=1)
    report = (built.folder / "report.html").read_text()
    assert f"{Path(dumps.wikipedia).stat().st_size:,} bytes, changed " in report


def test_a_build_shows_what_it_came_to(built, dumps):
    assert shown(built)[0].startswith(f"entities: {built.summary['counts']['entities']}, ")
    again = build_kb(dumps, out=built.folder)
    assert shown(again)[0].startswith(f"unchanged: {built.folder} ")
