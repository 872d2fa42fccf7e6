"""A blend beside the documents of every real store: what it holds, and that it undoes."""

import pytest

from argus.errors import ArgusError
from argus.remedies.store_writing import list_in_store, rollback_in_store
from argus.stores.protocol import FIELDS, KIND, PARENT, REMEDY, SCALE
from argus.stores.spec import open_store

# A file and a server; what breaks in the middle, and what is undone, is tried on all.
ON_TWO = pytest.mark.parametrize("home", ["sqlite-vec", "pgvector"], indirect=True)


def check_records(home, result, before, wiki2):
    """Check parents and scales of the records."""
    records = home.records(f"{home.collection}_argus")
    assert result.summary["counts"]["records"] == len(records) > 2 * len(wiki2)
    payloads = [payload for _, payload in records.values()]
    assert {p[REMEDY] for p in payloads} == {result.remedy}
    assert {p[PARENT] for p in payloads} == {*before}
    assert sum(p[KIND] == "document" for p in payloads) == len(wiki2)
    for payload in payloads:
        parent = before[payload[PARENT]][1]
        assert {k: v for k, v in payload.items() if k not in FIELDS} == parent
    scales = {p[SCALE] for p in payloads if p[KIND] == "sentence"}
    assert all(0 < s <= 1 + 1e-5 for s in scales) and len(scales) > 10
    assert home.records(home.collection) == before


@pytest.fixture
def breaks(monkeypatch):
    """Have the connection of a real store break at one call, in batches of 40."""
    monkeypatch.setattr("argus.remedies.store_writing.WRITE_SIZE", 40)
    monkeypatch.setattr("argus.remedies.store_writing.DELETE_SIZE", 30)

    def break_after(home, name: str, calls: int) -> list:
        """Return what each call was given, also the one that broke."""
        with open_store(home.spec, home.opening) as store:
            kind = type(store)
        call, given = getattr(kind, name), []

        def call_or_break(self, batch):
            given.append(batch)
            if len(given) == calls + 1:
                raise ArgusError("the connection was lost")
            call(self, batch)

        monkeypatch.setattr(kind, name, call_or_break)
        return given

    return break_after


@pytest.mark.slow
def test_a_blend_comes_out_exactly_and_one_that_fails_in_the_middle_is_completed(
    home, wiki2, breaks
):
    untouched, before = home.state(), home.records(home.collection)
    result = home.blend()
    whole, written = home.state(), result.summary["counts"]["records"]
    assert whole != untouched
    check_records(home, result, before, wiki2)
    listed = list_in_store(home.spec, opening=home.opening)
    assert [(r["id"], r["views"] + r["documents"]) for r in listed] == [(result.remedy, written)]
    note = rollback_in_store(home.spec, result.remedy, opening=home.opening)
    assert note["records_removed"] == written
    assert note["collection_removed"] and home.state() == untouched
    assert list_in_store(home.spec, opening=home.opening) == []
    sent = breaks(home, "upsert", 2)
    with pytest.raises(ArgusError, match=r"80 of \d+ records of blend-\w+ are in it") as error:
        home.blend()
    told = str(error.value).replace("'", "")  # a name with a "?" is quoted, without its user
    assert f" --store {home.spec.partition('?')[0].replace('postgres:@', '')}" in told
    assert {**home.state(), **untouched} == home.state() != whole
    counts = home.blend().summary["counts"]
    del sent[2]  # the batch that broke: the second run sent only what was missing
    assert sum(len(batch.ids) for batch in sent) == counts["records"]
    assert home.state() == whole


@ON_TWO
def test_a_rollback_that_was_stopped_goes_on(home, breaks):
    before = home.state()
    remedy = home.blend().remedy
    breaks(home, "delete", 2)
    with pytest.raises(ArgusError, match="was lost"):
        rollback_in_store(home.spec, remedy, opening=home.opening)
    assert rollback_in_store(home.spec, remedy, opening=home.opening)["collection_removed"]
    assert home.state() == before
