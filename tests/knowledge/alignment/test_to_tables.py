import hashlib
import json
import os
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from argus.data.kb import KbWriter
from argus.errors import ArgusError, InputError
from argus.knowledge.alignment import RAW, AlignSettings, finish
from tests.knowledge.alignment.worlds import SMALL, Tables, finished, write_raw
from tests.support.in_process_engine import InProcessEngine


def entity(id_: str | None, label: str | None = None, paragraph: str | None = "some words"):
    return (id_, id_ if label is None else label, None, None, paragraph)


def edges(*pairs: str, source: str = "triples", property_: str | None = "p"):
    return [(pair[0], property_, pair[1], source) for pair in pairs]


def test_entities_need_id_label_and_paragraph_the_first_counts(tmp_path):
    write_raw(
        tmp_path,
        entities=[
            entity("b"),
            *(entity(None, "x"), entity("", "x"), entity("", "y")),
            *(entity("c", ""), entity("c", "\u3000\n")),
            *(entity("d", paragraph=None), entity("d", paragraph=" \x1c\x85"), entity("d")),
            *(entity("a", "first"), entity("a", "second"), entity("a", "third")),
        ],
    )
    tables, counts = finished(tmp_path)
    assert tables.by_id("label") == {"a": "first", "b": "b", "d": "d"}
    assert counts["entities"] == 3
    assert counts["dropped"]["entities"] == {
        "no id": 3,
        "no label": 2,
        "no paragraph": 2,
        "duplicate id": 2,
    }


def test_the_first_of_an_id_is_that_of_the_first_file(tmp_path):
    write_raw(tmp_path, entities=[entity("a", "first")])
    first = tmp_path / "raw" / "entities" / "000000.parquet"
    first.rename(first.with_name("000001.parquet"))
    write_raw(tmp_path, entities=[entity("a", "zero")])
    assert finished(tmp_path)[0].by_id("label") == {"a": "zero"}


def test_a_relation_is_dropped_for_the_first_reason_that_holds(tmp_path):
    write_raw(
        tmp_path,
        entities=[entity("a"), entity("b")],
        relations=[
            *edges("ab", "ab", "ba", "aa", "aa", "ax", "xa", "xx"),
            *(("a", "p", None, "triples"), (None, None, None, "triples")),
            *edges("ab", "ab", property_=None),
            *edges("ab", source="hyperlink"),
        ],
    )
    tables, counts = finished(tmp_path)
    assert tables.rows["relations"] == [
        ("a", "", "b", "triples"),
        ("a", "p", "b", "hyperlink"),
        ("a", "p", "b", "triples"),
        ("b", "p", "a", "triples"),
    ]
    assert counts["relations"] == {"hyperlink": 1, "triples": 3}
    assert counts["dropped"]["relations"] == {
        "triples": {"to no entity": 5, "self-loop": 2, "duplicate": 2}
    }


@pytest.mark.parametrize(
    ("sources", "graph", "related"),
    [
        (("wikidata", "hyperlink", "mention"), "wikidata", {"a": 1, "b": 1, "c": 0, "d": 0}),
        (("triples", "hyperlink"), "triples", {"a": 1, "b": 1, "c": 0, "d": 0}),
        (("hyperlink", "mention"), "hyperlink", {"a": 0, "b": 1, "c": 1, "d": 0}),
        (("mention",), "mention", {"a": 0, "b": 0, "c": 1, "d": 1}),
        ((), "mention", {"a": 0, "b": 0, "c": 0, "d": 0}),
    ],
)
def test_related_entities_are_of_the_first_source_there_is(tmp_path, sources, graph, related):
    pairs = {"wikidata": "ab", "triples": "ba", "hyperlink": "bc", "mention": "cd"}
    relations = [edge for name in sources for edge in edges(pairs[name], source=name)]
    write_raw(tmp_path, entities=map(entity, "abcd"), relations=relations)
    tables, counts = finished(tmp_path)
    assert counts["graph"] == graph
    assert tables.by_id("related") == related
    assert tables.by_id("target") == {id_: n > 0 for id_, n in related.items()}
    assert counts["targets"] == sum(n > 0 for n in related.values())


def test_a_source_of_which_nothing_is_left_does_not_relate(tmp_path):
    relations = [*edges("aa", "ax", source="wikidata"), *edges("ab", source="mention")]
    write_raw(tmp_path, entities=map(entity, "ab"), relations=relations)
    assert finished(tmp_path)[1]["graph"] == "mention"


def test_related_counts_neighbours_not_relations(tmp_path):
    relations = [*edges("ab", "ba", "ac"), *edges("ab", property_="q")]
    write_raw(tmp_path, entities=map(entity, "abc"), relations=relations)
    assert finished(tmp_path)[0].by_id("related") == {"a": 2, "b": 1, "c": 1}


def test_aliases_are_of_entities_and_say_more_than_the_label(tmp_path):
    write_raw(
        tmp_path,
        entities=[entity("a", "A"), entity("b", "B")],
        aliases=[
            *(("a", "A", "alias"), ("a", "B", "alias"), ("a", " \n", "alias")),
            *(("a", "x", "title"), ("a", "x", "redirect"), ("a", "x", "alias")),
            *(("nobody", "x", "alias"), (None, "x", "alias"), ("b", None, "alias")),
        ],
    )
    tables, counts = finished(tmp_path)
    assert tables.rows["aliases"] == [("a", "B", "alias"), ("a", "x", "alias")]
    assert counts["aliases"] == 2


def test_redirects_are_in_order_with_ids_of_entities_alone(tmp_path):
    write_raw(
        tmp_path,
        entities=[entity("a")],
        redirects=[("S", "T", "a"), ("R", "T", "nobody"), ("Q", "T", None), ("S", "U", "a")],
    )
    tables, counts = finished(tmp_path)
    assert tables.rows["redirects"] == [("Q", "T", None), ("R", "T", None), ("S", "T", "a")]
    assert counts["redirects"] == 3


RING = [entity(f"e{i:02d}") for i in range(40)]
RING_EDGES = [(f"e{i:02d}", "p", f"e{(i + 1) % 40:02d}", "triples") for i in range(40)]


def drawn_by_hand(n: int, seed: int) -> set[str]:
    ids = [row[0] for row in RING]
    return set(sorted(ids, key=lambda id_: hashlib.md5(f"{seed}:{id_}".encode()).hexdigest())[:n])


@pytest.mark.parametrize("seed", [0, 1, -7])
def test_a_sample_is_drawn_by_md5_with_its_related_entities(tmp_path, seed):
    write_raw(
        tmp_path,
        entities=RING,
        relations=[*RING_EDGES, ("e00", "p", "e20", "mention")],
        aliases=[(row[0], "alias", "alias") for row in RING],
        redirects=[(f"to {row[0]}", row[0], row[0]) for row in RING],
    )
    tables, counts = finished(tmp_path, sample=5, seed=seed)
    drawn = drawn_by_hand(5, seed)
    neighbours = {o for s, _, o, _ in RING_EDGES if s in drawn} | {
        s for s, _, o, _ in RING_EDGES if o in drawn
    }
    entities = drawn | neighbours
    assert {id_ for id_, target in tables.by_id("target").items() if target} == drawn
    assert set(tables.by_id("id")) == entities == {row[0] for row in tables.rows["aliases"]}
    assert [row[2] for row in tables.rows["redirects"]] == [
        row[0] if row[0] in entities else None for row in RING
    ]
    inside = [(s, p, o, source) for s, p, o, source in RING_EDGES if {s, o} <= entities]
    assert [row for row in tables.rows["relations"] if row[3] == "triples"] == inside
    assert counts["dropped"]["entities"] == {"not sampled": 40 - len(entities)}
    assert counts["dropped"]["relations"]["triples"] == {"not sampled": 40 - len(inside)}
    assert all(tables.by_id("related")[id_] == 2 for id_ in drawn)


def test_a_sample_does_not_depend_on_the_order_of_files(tmp_path):
    write_raw(tmp_path / "one", entities=RING, relations=RING_EDGES)
    write_raw(tmp_path / "two", entities=RING[::-1], relations=RING_EDGES[::-1])
    one, two = (finished(tmp_path / name, sample=7, seed=3) for name in ("one", "two"))
    assert (one[0].rows, one[1]) == (two[0].rows, two[1])


def test_a_larger_sample_holds_the_smaller_and_all_is_all(tmp_path):
    write_raw(tmp_path, entities=RING, relations=RING_EDGES)
    targets = []
    for sample in (3, 10, 99, None):
        tables, _ = finished(tmp_path, sample=sample)
        targets.append({id_ for id_, is_one in tables.by_id("target").items() if is_one})
    assert [len(some) for some in targets] == [3, 10, 40, 40]
    assert targets[0] < targets[1] < targets[2] == targets[3]


def test_a_drawn_entity_without_relations_stays_as_no_target(tmp_path):
    write_raw(tmp_path, entities=map(entity, "ab"))
    tables, counts = finished(tmp_path, sample=1)
    assert list(tables.by_id("target").values()) == [False]
    assert (counts["entities"], counts["targets"]) == (1, 0)


def test_a_sample_without_relations_takes_the_next_source(tmp_path):
    everything = [entity(f"e{i}") for i in range(6)]
    first, second, *others = sorted((row[0] for row in everything), key=_md5)
    related = [(others[0], "p", others[1], "wikidata"), (first, "link", second, "hyperlink")]
    write_raw(tmp_path, entities=everything, relations=related)
    _, counts = finished(tmp_path, sample=2)
    assert (counts["graph"], counts["relations"], counts["targets"]) == (
        "hyperlink",
        {"hyperlink": 1},
        2,
    )
    assert counts["dropped"]["relations"] == {"wikidata": {"not sampled": 1}}

    writer = KbWriter(tmp_path / "KB")
    settings = AlignSettings(sample=1, memory_bytes=SMALL)
    counts = finish(tmp_path, writer, InProcessEngine(), settings)
    assert counts["graph"] == "mention"
    assert counts["targets"] == 0
    writer.finish(counts["graph"], {})  # a source without relations would be refused


def _md5(id_: str) -> str:
    return hashlib.md5(f"0:{id_}".encode()).hexdigest()


def test_a_paragraph_of_fewer_words_than_asked_for_is_too_short(tmp_path):
    paragraphs = {
        "five": "one two three-four o'clock five",
        "four": "one two, three -- four!",
        "chinese": "北京是中国的首都",  # two characters count as one word: four
        "longer": "北京市是中国的首都。",
        "blank": " \n",
        "signs": "... — !",
    }
    write_raw(tmp_path, entities=[entity(id_, paragraph=p) for id_, p in paragraphs.items()])
    tables, counts = finished(tmp_path, min_words=5)
    assert set(tables.by_id("id")) == {"five", "longer"}
    assert counts["dropped"]["entities"] == {"no paragraph": 1, "paragraph too short": 3}
    assert finished(tmp_path)[1]["dropped"]["entities"] == {
        "no paragraph": 1,
        "paragraph too short": 1,
    }


def test_nothing_left_says_what_became_of_all(tmp_path):
    write_raw(tmp_path, entities=[entity("a", ""), entity("b", paragraph=None)])
    with pytest.raises(InputError, match=r"no label: 1, no paragraph: 1.*at least one with an id"):
        finished(tmp_path)
    with pytest.raises(InputError, match="no entity is left \\(there was none\\)"):
        finished(tmp_path / "empty")


def test_ids_and_labels_may_hold_any_character(tmp_path):
    ids = ["\x00", "a\x00b", "Q'1", 'Q"2', "\U0001f600", "e\u0301", "\u00e9", " ", "%", "\\"]
    write_raw(
        tmp_path,
        entities=[entity(id_, f"label {id_}") for id_ in ids],
        relations=[(id_, "p", ids[0], "triples") for id_ in ids],
        aliases=[(id_, id_ + "!", "alias") for id_ in ids],
    )
    tables, counts = finished(tmp_path)
    assert tables.column("entities", "id") == sorted(ids)
    assert tables.column("aliases", "alias") == [id_ + "!" for id_ in sorted(ids)]
    assert counts["dropped"]["relations"] == {"triples": {"self-loop": 1}}


def test_the_knowledge_base_on_disk_takes_the_tables(tmp_path):
    write_raw(tmp_path / "work", entities=RING, relations=RING_EDGES)
    writer = KbWriter(tmp_path / "KB")
    counts = finish(tmp_path / "work", writer, InProcessEngine(), AlignSettings(memory_bytes=SMALL))
    writer.finish(counts["graph"], counts)
    header = json.loads((tmp_path / "KB" / "kb.json").read_text())
    assert header["graph"] == "triples"
    assert sum(shard["rows"] for shard in header["tables"]["entities"]) == 40


def test_what_the_writer_raises_comes_out_and_the_database_goes(tmp_path):
    class Full(Tables):
        def write(self, table, batches):
            next(iter(batches))
            raise OSError(28, "No space left on device")

    write_raw(tmp_path, entities=RING, relations=RING_EDGES)
    with pytest.raises(ArgusError, match=r"The disk of .* is full: .*Free some space.*goes on"):
        finish(tmp_path, Full(), InProcessEngine(), AlignSettings(memory_bytes=SMALL))
    assert not (tmp_path / "database").exists()


BOUNDED = """
import sys
from pathlib import Path
from argus.data.provenance import peak_memory_bytes
from argus.knowledge.alignment import AlignSettings, finish

class Serial:
    name = "serial"
    def run(self, work, blocks):
        function = work.setup(work.shared)
        for number, block in enumerate(blocks):
            yield number, function(block)

class Counting:
    def write(self, table, batches):
        return sum(batch.num_rows for batch in batches)

counts = finish(Path(sys.argv[1]), Counting(), Serial(), AlignSettings(memory_bytes=128 << 20))
print(counts["relations"]["triples"], counts["dropped"]["relations"]["triples"]["duplicate"])
print(peak_memory_bytes() >> 20)  # not ru_maxrss, which begins with that of the parent
"""


def test_a_million_relations_fit_into_the_memory_that_is_allowed(tmp_path):
    n, m = 20_000, 1_000_000
    rng = np.random.default_rng(0)
    ids = np.array([f"Q{i}" for i in range(n)])
    subjects, objects = rng.integers(0, n, (2, m))
    objects[subjects == objects] += 1
    objects %= n
    pairs = len(np.unique(subjects * n + objects))
    write_raw(tmp_path, entities=[entity(id_) for id_ in ids])
    columns = [ids[subjects], ["p"] * m, ids[objects], ["triples"] * m]
    folder = tmp_path / "raw" / "relations"
    folder.mkdir()
    pq.write_table(pa.table(columns, schema=RAW["relations"]), folder / "000000.parquet")

    started = time.monotonic()
    ran = subprocess.run(
        [sys.executable, "-c", BOUNDED, str(tmp_path)],
        env={**os.environ, "OMP_NUM_THREADS": "2"},
        capture_output=True,
        text=True,
        check=True,
    )
    relations, duplicate, peak_mib = map(int, ran.stdout.split())
    assert (relations, duplicate) == (pairs, m - pairs)
    assert peak_mib < 400  # a list of the relations would take more
    assert time.monotonic() - started < 600
