"""A suite's TOML: what it says, and what is wrong with it, told with the place."""

import pytest

from argus.errors import InputError
from argus.suite.reading import read_suite

GOOD = """
k = 50
[[retrievers]]
name = "MiniLM"
encoder = "all-MiniLM-L6-v2"
query_prompt = "query: "
precision = "float32"
[[retrievers]]
bm25 = true
remedies = ["none"]
[[remedies]]
name = "light blend"
kind = "blend"
lambda = 1
bm25 = 0.3
[[tasks]]
task = "beir:cran"
group = "old"
"""


@pytest.fixture
def write(tmp_path):
    def read(text):
        (tmp_path / "suite.toml").write_text(text, encoding="utf-8")
        return read_suite(tmp_path / "suite.toml")

    return read


def test_a_suite_is_read(write):
    suite = write(GOOD)
    minilm, bm25 = suite.retrievers
    assert (minilm.encoder.query_prompt, suite.config.k) == ("query: ", 50)
    assert (bm25.name, [r.name for r in suite.remedies_of(bm25)]) == ("bm25", ["none"])
    assert [remedy.name for remedy in suite.remedies] == ["none", "light blend"]
    assert suite.remedies[1].values == {"lambda": 1, "bm25": 0.3}
    assert (suite.tasks[0].name, suite.tasks[0].group) == ("cran", "old")


@pytest.mark.parametrize(
    ("old", "new", "where", "words"),
    [
        ("k = 50", "kk = 50", "kk", "'k'"),
        ("k = 50", 'k = "50"', "k", "a whole number"),
        ("k = 50", "k = 20", "measures", "k = 50"),
        ("k = 50", 'headline = "nDGC@10"', None, "nDGC@10"),
        ('precision = "float32"', 'precision = "float31"', "retrievers[0].precision", "float31"),
        ("bm25 = true\n", "", "retrievers[1].encoder", "one of encoder"),
        ("bm25 = true\n", 'bm25 = true\nsource = "a.py"\n', "retrievers[1].source", "Keep one"),
        ('remedies = ["none"]', 'remedies = ["blend"]', "retrievers[1].remedies", "light blend"),
        ("bm25 = true", 'bm25 = true\nname = "MiniLM"', "retrievers", "stands twice"),
        ('kind = "blend"', 'kind = "blnd"', "remedies[0].kind", "'blend'"),
        ("lambda = 1", "lambda = 2", "remedies[0].lambda", "from 0 to 1"),
        (
            'kind = "blend"\nlambda = 1\nbm25 = 0.3', 'kind = "expand"\nkb = "gone.jsonl"',
            "remedies[0].kb", "gone.jsonl",
        ),
        ('task = "beir:cran"', "", "tasks[0].task", "Add the key"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_place(write, old, new, where, words):
    assert old in GOOD
    with pytest.raises(InputError) as error:
        write(GOOD.replace(old, new))
    assert error.value.where.field == where
    assert words in str(error.value)
