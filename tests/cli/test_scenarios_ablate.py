"""`research scenarios ablate`: real documents and scenarios become a grid; a mistake, a message."""

import json

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
            "research", "scenarios", "ablate", *inputs, "--out", "out", "--resamples", 1000,
            *FLOAT32,
            *arguments,
        )  # fmt: skip

    return go


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--lambda", "0.5,1.5"), "λ = 1.5; expected a number from 0"),
        (("--lambda", "half"), "'half'; expected numbers, separated by commas"),
        (("--lambda", ","), "--lambda: ','; expected numbers"),
        (("--component", "X"), "'X'; expected one of M, I, E, M+E, I+E"),
        (("--measure", "nDCG@ten"), "measure 'nDCG@ten'"),
        (("--tune-share", "1"), "from 0, below 1"),
        (("--expansions", "gone.jsonl"), "gone.jsonl: no such file"),
    ],
)
def test_mistakes_are_messages_with_the_mend(run, tmp_path, arguments, message):
    ran = run(*arguments)
    assert ran.code == 2 and message in ran.err
    assert not (tmp_path / "out").exists()
