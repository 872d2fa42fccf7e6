"""`argus research suite` on draws of real collections: what cells say, and which are made again."""

import pytest

from argus.errors import InputError
from argus.indexes.job import build_index
from argus.indexes.retriever import open_retriever
from argus.remedies.blend import blend_index
from argus.suite import job
from argus.suite.job import run_suite
from argus.tasks.opening import open_task
from tests.support.suites import draw
from tests.support.tasks import FINSUPERQA, lines

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


@pytest.fixture(scope="module")
def home(shared, tmp_path_factory):
    home = tmp_path_factory.mktemp("collections")
    draw(shared("hotpot100"), home / "hotpot", questions=4, others=2)
    draw(shared("theoremqa_theorems"), home / "theorems", questions=4, others=2)
    return home


@pytest.fixture(scope="module", autouse=True)
def loaded(minilm):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("argus.suite.job.load_encoder", lambda config: minilm)
        yield


@pytest.fixture
def suite(home, tmp_path):
    file = tmp_path / "suite.toml"
    file.write_text(SUITE.format(home=home), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def whole(home, loaded):
    """The result of a suite that ran without a break."""
    (home / "suite.toml").write_text(SUITE.format(home=home), encoding="utf-8")
    return run_suite(home / "suite.toml", out=home / "out")


def rows(result, scope="task"):
    return {
        (row["retriever"], row["remedy"], row["name"]): row
        for row in result.summary["rows"]
        if row["scope"] == scope
    }


def test_cells_are_what_the_jobs_say_one_by_one(home, whole, minilm, tmp_path):
    task, cells = open_task(home / "hotpot"), rows(whole)

    def evaluated():
        retriever = open_retriever(tmp_path / "index", minilm)
        return task.evaluate(retriever.search(task.queries, 100), ["nDCG@10"])

    build_index(home / "hotpot", out=tmp_path / "index", encoder=minilm)
    before = evaluated()
    blend_index(tmp_path / "index", encoder=minilm)
    after = evaluated()
    for remedy, evaluation in (("none", before), ("blend", after)):
        measures = cells["MiniLM", remedy, "hotpot"]["measures"]
        assert measures["nDCG@10"] == pytest.approx(evaluation.aggregate["nDCG@10"], abs=1e-9)
    changed = cells["MiniLM", "blend", "hotpot"]["comparison"]
    values = [(v["nDCG@10"], after.per_query[q]["nDCG@10"]) for q, v in before.per_query.items()]
    assert changed["harmed"] == sum(b > a + 1e-9 for b, a in values)


def test_an_average_weighs_tasks_alike(whole):
    cells, (average,) = rows(whole), (r for k, r in rows(whole, "all").items() if k[1] == "blend")
    tasks = [cells["MiniLM", "blend", name] for name in ("hotpot", "theorems")]
    mean = sum(row["measures"]["nDCG@10"] for row in tasks) / 2
    assert average["measures"]["nDCG@10"] == pytest.approx(mean)
    assert average["comparison"]["mean_after"] == pytest.approx(mean)


def test_a_suite_that_was_stopped_measures_only_the_rest(whole, suite, tmp_path, monkeypatch):
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
    assert result.summary["rows"] == whole.summary["rows"]


def test_a_cell_that_fails_stops_no_other(home, tmp_path):
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
    assert any("no power" in line for line in result.headline())


def test_an_absent_task_is_refused_before_anything_runs(suite, tmp_path):
    suite.write_text('[[retrievers]]\nbm25 = true\n[[tasks]]\ntask = "beir:gone"\n')
    with pytest.raises(InputError, match="absent") as error:
        run_suite(suite, out=tmp_path / "out")
    assert error.value.where.field == "tasks[0].task"
    assert not (tmp_path / "out").exists()


def test_what_controls_is_served_in_place_of_what_it_supersedes(home, tmp_path):
    suite, file = tmp_path / "suite.toml", tmp_path / "finsuperqa_v1.jsonl"
    suite.write_text(
        f'k = 20\nmeasures = ["nDCG@5"]\nheadline = "nDCG@5"\n[[retrievers]]\nbm25 = true\n'
        '[[remedies]]\nname = "two stages"\nkind = "authority"\n'
        f'[[tasks]]\nname = "trades"\ntask = "car:{lines(file, *FINSUPERQA)}"\n'
        f'[[tasks]]\nname = "hotpot"\ntask = "beir:{home}/hotpot"\n'
    )
    cells = rows(run_suite(suite, out=tmp_path / "out"))
    before, after = (cells["bm25", name, "trades"]["measures"] for name in ("none", "two stages"))
    assert (before["TCA@5, T0"], before["TCA@5, T2"], before["Success@5"]) == (0.0, 0.0, 0.5)
    assert (after["TCA@5, T0"], after["TCA@5, T2"], after["Success@5"]) == (1.0, 1.0, 1.0)
    assert before["ProvRec@5"] == pytest.approx(5 / 6)
    assert cells["bm25", "two stages", "trades"]["mean_rank"] == 1.0
    assert "what supersedes it" in cells["bm25", "two stages", "hotpot"]["reason"]
    calm, chain = FINSUPERQA
    lines(file, calm, chain | {"provenance": chain["provenance"][:2]})
    again = run_suite(suite, out=tmp_path / "out")  # another relation: other cells
    assert again.summary["cells"]["kept"] == 2
