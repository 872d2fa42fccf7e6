import fcntl
import json
from collections import Counter

import numpy as np
import pyarrow.parquet as pq
import pytest

from argus.data.folders import ArtifactFolder
from argus.engine import EngineConfig
from argus.kb import build as steps
from argus.kb.build import build_kb, related_histogram
from argus.kb.reading import Dumps
from tests.support.dumps import item, items_dump, pages_dump

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


def test_two_dumps_become_entities_aliases_and_relations(built):
    def rows(folder, table):
        return pq.read_table(folder / table / "part-00000.parquet").to_pylist()

    entities = {e["id"]: e for e in rows(built.folder, "entities")}
    assert list(entities) == ["Q170790", "Q21", "Q7251", "Q84"]
    turing = entities["Q7251"]
    assert turing["paragraph"] == "Alan Turing was a mathematician from London (a city)."
    assert (turing["span_start"], turing["span_end"], turing["prepended"]) == (0, 11, False)
    assert entities["Q170790"]["prepended"]
    relations = rows(built.folder, "relations")
    assert {(r["subject"], r["property"], r["object"]) for r in relations} == {
        ("Q21", "P36", "Q84"), ("Q7251", "P106", "Q170790"), ("Q7251", "P19", "Q84"),
        ("Q84", "P1376", "Q21"), ("Q7251", "link", "Q170790"), ("Q7251", "link", "Q84"),
        ("Q84", "link", "Q21"), ("Q21", "link", "Q84"), ("Q170790", "link", "Q7251"),
    }  # fmt: skip
    names = {(a["alias"], a["source"]) for a in rows(built.folder, "aliases")
             if a["id"] == "Q7251"}  # fmt: skip
    assert names == {("A. M. Turing", "alias"), ("Turing", "redirect"), ("A. Turing", "redirect")}
    assert built.summary["counts"]["graph"] == "wikidata" and not built.damage


def test_every_page_and_item_has_one_reason(built):
    outcomes = dict(built.summary["outcomes"])
    assert sum(outcomes["wikipedia"].values()) == len(TEXT)
    assert sum(outcomes["wikidata"].values()) == len(ITEMS)
    items = {"entities": 4, "no article": 2, "article not in the dump": 1, "no label": 2,
             "disambiguation": 1}  # fmt: skip
    assert items.items() <= outcomes["wikidata"].items()
    assert outcomes["wikidata relations left out"] == {
        "to no entity": 1, "self-loop": 1, "duplicate": 1, "deprecated": 1,
    }  # fmt: skip


@pytest.mark.parametrize("packs", [("plain", "bz2"), ("gz", "plain")])
def test_any_compression_of_either_dump_gives_the_same_shards(packs, built, tmp_path):
    pages = pages_dump(tmp_path / "pages", TEXT, pack=packs[0])
    items = items_dump(tmp_path / "items", ITEMS, pack=packs[1])
    other = build(Dumps(wikipedia=str(pages), wikidata=str(items)), tmp_path / "other")
    notes = [json.loads((kb.folder / "kb.json").read_text()) for kb in (built, other)]
    assert notes[0]["tables"] == notes[1]["tables"]


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


def test_the_histogram_counts_in_powers_of_two_over_all_parts():
    related = np.random.default_rng(0).geometric(0.01, 5000) - 1
    related[0] = 2**31 - 1
    bars = related_histogram(iter(np.array_split(related.astype(np.int32), 7)))
    plain = Counter(1 << (int(n).bit_length() - 1) if n else 0 for n in related)
    assert {b["from"]: b["entities"] for b in bars if b["entities"]} == plain
    assert [b["to"] for b in bars[:4]] == [0, 1, 3, 7] and bars[-1]["entities"] == 1
    assert related_histogram([]) == []
