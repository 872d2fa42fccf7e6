"""`argus scenarios ablate`: real documents and scenarios become a grid; a mistake, a message."""

import json

import pyarrow.parquet as pq
import pytest

FLOAT32 = ("--precision", "float32")


@pytest.fixture
def spike(shared, tmp_path):
    """The first documents of the released teacher data, and their needs as judged questions."""
    with (shared("spike_scenarios") / "scenarios.jsonl").open(encoding="utf-8") as lines:
        rows = [json.loads(next(lines)) for _ in range(8)]
    folder = tmp_path / "spike"
    folder.mkdir()

    def write(name, records):
        (folder / name).write_text("".join(json.dumps(r) + "\n" for r in records))

    write("corpus.jsonl", [{"_id": f"d{i}", "text": row["text"]} for i, row in enumerate(rows)])
    named = [row | {"_id": f"d{i}"} for i, row in enumerate(rows)]
    write("profiles.jsonl", named[:5])
    write(
        "queries.jsonl",
        [
            {"_id": f"q{i}", "text": row["scenarios"][-1]["information_need"]}
            for i, row in enumerate(rows)
        ],
    )
    write("e.jsonl", [{"_id": "d0", "pseudo_queries": ["a", "b", "c"], "summary": "A text."}])
    table = "query-id\tcorpus-id\tscore\n" + "".join(f"q{i}\td{i}\t1\n" for i in range(8))
    (folder / "qrels.tsv").write_text(table)
    return folder


@pytest.fixture
def run(argus, spike):
    def go(*arguments, **files):
        names = {
            "corpus": "corpus.jsonl", "profiles": "profiles.jsonl", "queries": "queries.jsonl",
            "qrels": "qrels.tsv",
        } | files  # fmt: skip
        inputs = [part for name, file in names.items() for part in (f"--{name}", spike / file)]
        return argus(
            "scenarios", "ablate", *inputs, "--out", "out", "--resamples", 1000, *FLOAT32,
            *arguments,
        )  # fmt: skip

    return go


@pytest.mark.slow
def test_a_grid_with_expansions_is_told_in_words(run, spike, tmp_path):
    ran = run("--lambda", "0.5,0.7,1", "--expansions", spike / "e.jsonl", "--placebos", 2)
    assert ran.code == 0, ran.err
    assert "5 of 8 documents (62.5%) have scenarios; 8 questions, nDCG@10" in ran.out
    for name in ("documents alone:", "scenarios M+E at λ = 0.7", "placebo M+E", "summary: "):
        assert ran.out.count(f"  {name}") >= 2, "in the whole corpus, and where all have scenarios"
    assert "(best, chosen on these questions)" in ran.out and "chosen on 4 questions" in ran.out
    assert "not applicable" not in ran.out
    assert "report: out/report.html" in ran.out
    table = pq.read_table(tmp_path / "out" / "ablation.parquet").to_pylist()
    grid = [r for r in table if (r["corpus"], r["system"]) == ("whole", "scenarios")]
    assert [(r["component"], r["lambda"]) for r in grid] == [
        (c, w) for c in ("M", "I", "E", "M+E", "I+E") for w in (0.5, 0.7, 1.0)
    ]
    assert (tmp_path / "out" / "ablation.csv").is_file()


def test_components_weights_and_measures_are_chosen(run):
    ran = run(
        "--component", "e,i", "--component", "E+M", "--lambda", "0.7", "--measure", "RR",
        "--measure", "NDCG@5", "--placebos", 0, "--tune-share", 0, "--json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    summary = json.loads(ran.out)
    assert summary["components"] == ["I", "E", "M+E"] and summary["weights"] == [0.7]
    assert summary["measures"] == ["RR", "nDCG@5"] and summary["headline"] == "RR"
    assert summary["whole"]["tuned"] is None and not summary["whole"]["gaps"]
    every = run("--component", "all", "--lambda", "1", "--placebos", 0, "--json")
    assert len(json.loads(every.out)["components"]) == 5


def test_without_expansions_that_is_said(run):
    ran = run("--component", "M", "--lambda", "0.7")
    assert "document expansion: not applicable, neither --expansions nor --model" in ran.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--lambda", "0.5,1.5"), "λ = 1.5; expected a number from 0"),
        (("--lambda", "half"), "'half'; expected numbers from 0 to 1, separated by commas"),
        (("--lambda", ","), "a grid of 5 components and 0 λ"),
        (("--component", "X"), "component 'X'; expected one of M, I, E, M+E, I+E"),
        (("--measure", "nDCG@ten"), "measure 'nDCG@ten'"),
        (("--tune-share", "1"), "from 0, below 1"),
        (("--budget", "3"), "--budget without --model"),
        (("--expansions", "gone.jsonl"), "gone.jsonl: no such file"),
    ],
)
def test_mistakes_are_messages_with_the_mend(run, tmp_path, arguments, message):
    ran = run(*arguments)
    assert ran.code == 2 and message in ran.err
    assert not (tmp_path / "out").exists()


def test_profiles_of_another_corpus_are_refused(run, spike):
    path = spike / "other.jsonl"
    scenario = {"information_need": "A user wants to know", "explanation": "It tells."}
    path.write_text(json.dumps({"_id": "x", "main_topic": "t", "scenarios": [scenario]}) + "\n")
    ran = run(profiles="other.jsonl")
    assert ran.code == 2
    assert "no profile with scenarios of a document of the corpus (1 lines, such as 'x'" in ran.err


def test_questions_without_judgements_are_refused(run, spike):
    (spike / "none.tsv").write_text("query-id\tcorpus-id\tscore\nz\td0\t1\n")
    ran = run(qrels="none.tsv")
    assert ran.code == 2 and "the judgements name none of the 8 queries" in ran.err
