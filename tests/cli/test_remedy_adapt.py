"""`argus tune apply adapt` as a person types it."""

import pytest

from argus.data.types import Document
from argus.indexes.job import build_index
from argus.scenarios.files import write_profiles
from tests.support.adapting import needs_of

TEXTS = (
    "Bake the bread at two hundred degrees until the crust is brown",
    "The engine turns over slowly when its battery is old and cold",
    "Plant the bulbs in autumn so that they flower early in spring",
    "Rain fell on the mountain village for nine days without a pause",
)


@pytest.fixture
def built(minilm, tmp_path):
    documents = [Document(f"d{i}", text) for i, text in enumerate(TEXTS)]
    build_index(documents, out=tmp_path / "ix", encoder="all-MiniLM-L6-v2")
    write_profiles(tmp_path / "profiles.jsonl", needs_of(documents).values())
    return tmp_path / "ix"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--profiles", "none.jsonl"), "none.jsonl"),
        (("--profiles", "profiles.jsonl", "--rank", "500"), "at most 384"),
        (("--profiles", "profiles.jsonl", "--rank", "0"), "--rank"),
        (("--profiles", "profiles.jsonl", "--temperature", "0"), "--temperature"),
        (("--profiles", "profiles.jsonl", "--queries", "profiles.jsonl"), "without --qrels"),
    ],
)
def test_bad_options_are_refused_with_the_mend(argus, built, arguments, message):
    ran = argus("tune", "apply", "adapt", "--index", built, *arguments)
    assert ran.code == 2
    assert message in ran.err
