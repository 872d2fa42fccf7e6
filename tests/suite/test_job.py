"""`argus research suite` on draws of real collections: what cells say, and which are made again."""

import json

import numpy as np
import pytest

from argus.encoders.config import EncoderConfig
from argus.encoders.load import LoadedEncoder
from argus.errors import InputError
from argus.indexes.job import build_index
from argus.indexes.retriever import open_retriever
from argus.remedies.blend import blend_index
from argus.suite.job import run_suite
from argus.tasks.opening import open_task
from tests.support.suites import draw

SUITE = """
[[retrievers]]
name = "MiniLM"
encoder = "all-MiniLM-L6-v2"
precision = "float32"
[[retrievers]]
name = "BM25"
bm25 = true
remedies = ["none"]
[[remedies]]
name = "blend"
[[tasks]]
task = "beir:{home}/hotpot"
[[tasks]]
task = "beir:{home}/theorems"
"""


VECTORS = {}
"""What MiniLM made of a text: the tests embed the same ones again and again."""


class Counting:
    """An encoder that notes the texts that it is given."""

    def __init__(self, encoder):
        self.encoder, self.texts = encoder, []

    def __getattr__(self, name):
        return getattr(self.encoder, name)

    def encode_queries(self, texts):
        return self._encode("query", texts, self.encoder.encode_queries)

    def encode_documents(self, texts):
        return self._encode("document", texts, self.encoder.encode_documents)

    def _encode(self, role, texts, encode):
        keys = [(role, text) for text in texts]
        self.texts += keys
        new = list(dict.fromkeys(key for key in keys if key not in VECTORS))
        if new:
            VECTORS.update(zip(new, encode([text for _, text in new]), strict=True))
        return np.array([VECTORS[key] for key in keys])


@pytest.fixture(scope="module")
def home(shared, tmp_path_factory):
    home = tmp_path_factory.mktemp("collections")
    draw(shared("hotpot100"), home / "hotpot", questions=4, others=2)
    draw(shared("theoremqa_theorems"), home / "theorems", questions=4, others=2)
    return home


@pytest.fixture
def counting(minilm, monkeypatch):
    encoder = Counting(minilm)
    monkeypatch.setattr(
        "argus.suite.job.load_encoder",
        lambda config, **_: LoadedEncoder(encoder, EncoderConfig(precision="float32")),
    )
    return encoder


@pytest.fixture
def suite(home, tmp_path):
    file = tmp_path / "suite.toml"
    file.write_text(SUITE.format(home=home), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def whole(home, minilm):
    """The result of a suite that ran without a break."""
    (home / "suite.toml").write_text(SUITE.format(home=home), encoding="utf-8")
    loaded = LoadedEncoder(Counting(minilm), EncoderConfig(precision="float32"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("argus.suite.job.load_encoder", lambda config, **_: loaded)
        return run_suite(home / "suite.toml", out=home / "out")


def rows(result, scope="task"):
    return {
        (row["retriever"], row["remedy"], row["name"]): row
        for row in result.summary["rows"]
        if row["scope"] == scope
    }


def test_cells_are_what_the_jobs_say_one_by_one(home, whole, minilm, tmp_path):
    task = open_task(home / "hotpot")
    build_index(home / "hotpot", out=tmp_path / "index", encoder=minilm)
    before = task.evaluate(
        open_retriever(tmp_path / "index", minilm).search(task.queries, 100), ["nDCG@10"]
    )
    blend_index(tmp_path / "index", encoder=minilm)
    after = task.evaluate(
        open_retriever(tmp_path / "index", minilm).search(task.queries, 100), ["nDCG@10"]
    )
    cells = rows(whole)
    for remedy, evaluation in (("none", before), ("blend", after)):
        measures = cells["MiniLM", remedy, "hotpot"]["measures"]
        assert measures["nDCG@10"] == pytest.approx(evaluation.aggregate["nDCG@10"], abs=1e-9)
    changed = cells["MiniLM", "blend", "hotpot"]["comparison"]
    values = [(v["nDCG@10"], after.per_query[q]["nDCG@10"]) for q, v in before.per_query.items()]
    assert changed["harmed"] == sum(b > a + 1e-9 for b, a in values)
    assert whole.summary["cells"] == {"total": 6, "measured": 6, "kept": 0, "failed": 0}


def test_an_average_weighs_tasks_alike(whole):
    cells, (average,) = rows(whole), [
        row for row in whole.summary["rows"]
        if row["scope"] == "all" and row["remedy"] == "blend"
    ]  # fmt: skip
    tasks = [cells["MiniLM", "blend", name] for name in ("hotpot", "theorems")]
    mean = sum(row["measures"]["nDCG@10"] for row in tasks) / 2
    assert average["measures"]["nDCG@10"] == pytest.approx(mean)
    assert average["comparison"]["mean_after"] == pytest.approx(mean)
    assert average["comparison"]["queries"] == 8


def test_a_suite_that_was_stopped_asks_only_the_rest(whole, suite, counting, tmp_path, monkeypatch):
    import argus.suite.job as job

    real, cells = job.measure_cell, []

    def measuring(cell, *rest):
        if len(cells) == most:
            raise KeyboardInterrupt
        cells.append(cell)
        return real(cell, *rest)

    most = 3
    monkeypatch.setattr(job, "measure_cell", measuring)
    with pytest.raises(KeyboardInterrupt):
        run_suite(suite, out=tmp_path / "out")
    most = 99
    result = run_suite(suite, out=tmp_path / "out")
    assert result.summary["cells"]["kept"] == 3
    assert len(cells) == len(set(cells)) == 6
    assert len(counting.texts) == len(set(counting.texts))
    assert result.summary["rows"] == whole.summary["rows"]


def test_a_cell_that_fails_stops_no_other(home, counting, tmp_path):
    (tmp_path / "broken.py").write_text("def search(query, k):\n    raise ValueError('no power')\n")
    suite = tmp_path / "suite.toml"
    suite.write_text(
        f'[[retrievers]]\nname = "mine"\nsource = "{tmp_path}/broken.py:search"\n'
        f'[[retrievers]]\nbm25 = true\n[[tasks]]\ntask = "{home}/hotpot"\n'
    )
    result = run_suite(suite, out=tmp_path / "out")
    cells = rows(result)
    assert cells["bm25", "none", "hotpot"]["state"] == "measured"
    assert "no power" in cells["mine", "none", "hotpot"]["reason"]
    assert result.summary["cells"]["failed"] == 1
    assert any("no power" in line for line in result.headline())


@pytest.mark.parametrize(("place", "words"), [("beir:gone", "absent")])
def test_an_absent_task_is_refused_before_anything_runs(suite, tmp_path, place, words):
    suite.write_text(f'[[retrievers]]\nbm25 = true\n[[tasks]]\ntask = "{place}"\n')
    with pytest.raises(InputError) as error:
        run_suite(suite, out=tmp_path / "out")
    assert error.value.where.field == "tasks[0].task"
    assert words in str(error.value)
    assert not (tmp_path / "out").exists()


FLAWS = [
    {"_id": f"{kind}{n}", "type": kind, "timestamp": f"2024-0{month}-0{n}",
     "entities": {"id": str(n)}, "title": "", "text": text}
    for n, texts in enumerate(
        [("path traversal in the archive reader", "version two is out"),
         ("overflow in the image viewer", "release nine"),
         ("race in the mail queue", "the queue is locked before it is read")], 1)
    for kind, month, text in zip(("flaw", "patch"), (1, 2), texts, strict=True)
]  # fmt: skip
ASKED = [
    {"_id": f"q{n}", "text": text, "gold": [f"patch{n}"], "anchor": [f"flaw{n}"], "hop": hop}
    for n, (text, hop) in enumerate(
        [("Is the path traversal mended?", "T1"), ("Is the image overflow mended?", "T1"),
         ("Is the race in the queue mended before it is read and locked?", "T3")], 1)
]  # fmt: skip


@pytest.fixture
def flaws(tmp_path):
    folder = tmp_path / "flaws"
    folder.mkdir()
    edges = [{"superseder": f"patch{n}", "superseded": f"flaw{n}"} for n in (1, 2, 3)]
    for name, lines in (("corpus", FLAWS), ("queries", ASKED), ("supersedes", edges)):
        text = "".join(json.dumps(row) + "\n" for row in lines)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return folder


def test_what_controls_is_served_in_place_of_what_it_supersedes(flaws, home, tmp_path):
    suite = tmp_path / "suite.toml"
    suite.write_text(
        f'k = 20\nmeasures = ["nDCG@5"]\nheadline = "nDCG@5"\n[[retrievers]]\nbm25 = true\n'
        '[[remedies]]\nname = "two stages"\nkind = "authority"\n'
        f'[[tasks]]\nname = "flaws"\ntask = "car:{flaws}"\n'
        f'[[tasks]]\nname = "hotpot"\ntask = "beir:{home}/hotpot"\n'
    )
    result = run_suite(suite, out=tmp_path / "out")
    cells = rows(result)
    before, after = (cells["bm25", name, "flaws"]["measures"] for name in ("none", "two stages"))
    assert (before["TCA@5"], before["TCA@5, T1"], before["TCA@5, T3"]) == (1 / 3, 0.0, 1.0)
    assert (after["TCA@5"], after["TCA@5, T1"], after["TCA@5, T3"]) == (1.0, 1.0, 1.0)
    assert (before["Success@5"], after["Success@5"]) == (1 / 3, 1.0)
    assert before["ProvRec@5"] == pytest.approx(4 / 6) and "Acc@5" not in before
    assert cells["bm25", "two stages", "flaws"]["mean_rank"] == 1.0
    assert "what supersedes it" in cells["bm25", "two stages", "hotpot"]["reason"]
    rows_of = result.table.to_pylist()
    assert [row["TCA@5, T1"] for row in rows_of if row["name"] == "flaws"] == [0.0, 1.0]
    (flaws / "supersedes.jsonl").write_text('{"superseder": "patch1", "superseded": "flaw1"}\n')
    again = run_suite(suite, out=tmp_path / "out")  # another relation: other cells
    assert rows(again)["bm25", "two stages", "flaws"]["measures"]["Success@5"] == 2 / 3
    assert again.summary["cells"]["kept"] == 2
