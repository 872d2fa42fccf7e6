"""Candidate pairs: four sources, their clues, and times that forbid them."""

import random

from hypothesis import given
from hypothesis import strategies as st

from argus.authority.learning.duplicates import near_duplicates, shingles
from argus.authority.learning.pairs import CLUES, candidate_pairs
from argus.authority.learning.versions import titled
from argus.authority.records import Record

BODY = "Members of staff have twenty four days of paid leave in every calendar year of service"


def record(id_, time=None, text="", title="", **scope):
    return Record.of(id_, "doc", scope, time=time, text=text, title=title)


def pairs(*records, similarity=0.5):
    return candidate_pairs(records, similarity=similarity)


def test_a_named_document_is_a_candidate_with_its_words():
    found = pairs(
        record("OPS-7", "2019", "Backups run at night."),
        record("OPS-9", "2021", "This policy supersedes OPS-7 as of May."),
    )
    assert list(found) == [("OPS-9", "OPS-7")]
    clues = found["OPS-9", "OPS-7"]
    assert clues.kind == "stated"
    assert clues.evidence == ["This policy supersedes OPS-7 as of May."]
    told = dict(zip(CLUES, clues.row(), strict=True))
    assert {c for c, v in told.items() if v == 1} == {
        "stated", "strong_cue", "near_cue", "cited", "later"
    }  # fmt: skip


def test_time_forbids_what_is_earlier_or_of_one_day():
    older, newer = record("OPS-7", "2019-01-01"), record("OPS-9", "2019-01-01", "Replaces OPS-7.")
    assert pairs(older, newer) == {}
    assert pairs(record("OPS-7", "2020-01-01"), newer) == {}
    assert list(pairs(record("OPS-7"), newer)) == [("OPS-9", "OPS-7")]  # no time, no objection


def test_one_title_in_two_versions():
    found = pairs(
        record("a", title="Handbook of Travel, version 1.9"),
        record("b", title="Handbook of Travel, version 1.10"),
        record("c", title="Handbook of Leave, version 2.0"),
    )
    assert list(found) == [("b", "a")]
    assert found["b", "a"].kind == "newer version"


def test_one_title_at_two_times():
    found = pairs(record("a", "2020", title="Rules of Conduct"),
                  record("b", "2022", title="Rules of Conduct"))  # fmt: skip
    assert {pair: clues.kind for pair, clues in found.items()} == {("b", "a"): "same title"}


def test_a_near_duplicate_with_a_later_date():
    changed = BODY.replace("twenty four", "twenty eight")
    found = pairs(record("a", "2020", BODY), record("b", "2022", changed), similarity=0.3)
    assert {pair: clues.kind for pair, clues in found.items()} == {("b", "a"): "near-duplicate"}
    assert pairs(record("a", text=BODY), record("b", text=changed), similarity=0.3) == {}


def test_a_shared_scope_value_counts_unless_it_is_the_title():
    older = record("OPS-7", "2019", title="Backups", about="Backups", system="vault-3")
    newer = record("OPS-9", "2021", "See OPS-7.", "Backups", about="Backups", system="vault-3")
    same = pairs(older, newer)["OPS-9", "OPS-7"].values
    assert same["same_scope"] == 1
    only_title = record("OPS-9", "2021", "See OPS-7.", "Backups", about="Backups")
    assert "same_scope" not in pairs(older, only_title)["OPS-9", "OPS-7"].values


def test_titles_without_words_tell_nothing():
    assert titled("2021-03-01") is None
    assert titled("Release 2.4") is None
    first, second = (
        titled("RFC 2616: HTTP semantics (June 1999)"),
        titled("RFC 9110: HTTP semantics"),
    )
    assert first.stem == second.stem and second.numbers > first.numbers


@given(st.integers(0, 2**16))
def test_near_duplicates_are_those_of_all_pairs(seed):
    """Against the plain reference: all pairs. Long texts of one pool meet in their sketches."""
    rng = random.Random(seed)
    words = [f"w{i}" for i in range(60)]
    base = rng.sample(words, 40)
    texts = [" ".join(base), " ".join([*base[:36], "x", "y"]), " ".join(rng.sample(words, 40))]
    sets = [shingles(text) for text in texts]
    plain = {
        (i, j)
        for i in range(3) for j in range(i + 1, 3)
        if len(sets[i] & sets[j]) / len(sets[i] | sets[j]) >= 0.6
    }  # fmt: skip
    assert {(i, j) for i, j, _ in near_duplicates(texts, 0.6)} == plain
    assert (0, 1) in plain
