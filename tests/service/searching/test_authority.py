"""Records that come while the service runs."""

import json
import shutil
import threading
import time
from itertools import pairwise

import pytest

from argus.errors import InputError
from argus.service.searching.authority import LONGEST_ID, ServedAuthority
from argus.service.searching.journal import Journal
from tests.support.superseding import story_source

FIX_2 = {"_id": "fix-2", "type": "patch", "timestamp": "2024-05-01", "entities": {"cve": "2"}}


@pytest.fixture
def folder(story, tmp_path):
    shutil.copytree(story, tmp_path / "story", ignore=shutil.ignore_patterns("index"))
    return tmp_path / "story"


def opened(folder, **changes):
    return ServedAuthority(story_source(folder, **changes), folder / "state" / "records.jsonl")


def controlling(authority, id_, as_of=None):
    (resolved,) = authority.resolve([id_], as_of)
    return [one["id"] for one in resolved["controlling"]]


def test_a_record_supersedes_and_names_the_answers_that_rested_on_it(folder):
    authority = opened(folder)
    authority.watch("parser", ["flaw-2"])
    authority.watch("archive", ["flaw-1", "a document without record"])
    taken = authority.take([FIX_2])
    assert (taken["records"], taken["stale"]) == (7, ["parser"])
    assert taken["changes"][0]["superseded"] == ["flaw-2"]
    assert authority.stale() == ["parser"]
    authority.watch("parser", ["flaw-2"])
    assert authority.stale() == []
    assert controlling(authority, "flaw-2") == ["fix-2"]
    assert controlling(authority, "flaw-2", as_of="2024-04-30") == ["flaw-2"]


def test_what_came_is_there_after_a_restart(folder):
    opened(folder).take([FIX_2, {"op": "delete", "_id": "fix-3"}])
    again = opened(folder)
    assert controlling(again, "flaw-2") == ["fix-2"]
    assert controlling(again, "flaw-3") == ["flaw-3"]


def test_given_edges_hold_again_when_a_record_comes_back(folder):
    edges = folder / "edges.jsonl"
    edges.write_text(json.dumps({"superseder": "fix-3", "superseded": "flaw-2"}))
    authority = opened(folder, edges=edges)
    deletion = {"op": "delete", "_id": "fix-3"}
    again = {**FIX_2, "_id": "fix-3", "text": "As it should read."}
    with pytest.raises(InputError, match="nobody"):
        authority.take([deletion, again, {"op": "delete", "_id": "nobody"}])
    assert controlling(authority, "flaw-2") == ["fix-3"]
    authority.take([deletion])
    assert controlling(authority, "flaw-2") == ["flaw-2"]
    with pytest.raises(InputError, match="nobody"):
        authority.take([again, {"op": "delete", "_id": "nobody"}])
    authority.take([again])
    assert controlling(authority, "flaw-2") == ["fix-3"]
    assert controlling(opened(folder, edges=edges), "flaw-2") == ["fix-3"]


def test_all_rows_count_or_none(folder):
    authority = opened(folder)
    authority.watch("parser", ["flaw-2"])
    rows = [
        FIX_2,
        {"op": "delete", "_id": "fix-3"},
        {"op": "correct", "_id": "fix-1", "timestamp": "2024-06-01"},
        {"op": "delete", "_id": "nobody"},
    ]
    with pytest.raises(InputError, match=r"request, line 4.*nobody"):
        authority.take(rows)
    assert controlling(authority, "flaw-2") == ["flaw-2"]
    assert controlling(authority, "flaw-3") == ["fix-3"]
    assert controlling(authority, "flaw-1") == ["fix-1b"]
    assert authority.stale() == []
    assert not list(Journal(folder / "state" / "records.jsonl").lines())
    assert authority.take(rows[:3])["records"] == 6


def test_a_record_that_no_request_could_name_is_refused(folder):
    authority = opened(folder)
    long = {"_id": "x" * (LONGEST_ID + 1), "type": "note", "text": "x"}
    with pytest.raises(InputError, match=r"an id of 2,001 characters.*at most 2,000"):
        authority.take([FIX_2, long])
    assert controlling(authority, "flaw-2") == ["flaw-2"]
    assert authority.take([{**long, "_id": "x" * LONGEST_ID}])["records"] == 7


def test_a_disk_that_is_full_keeps_what_was_there(folder, full_disk):
    authority = opened(folder)
    authority.take([FIX_2])
    size = (folder / "state" / "records.jsonl").stat().st_size
    large = {"_id": "note", "type": "note", "text": "x" * 5000}
    full_disk(Journal, "append", size + 1000)
    with pytest.raises(OSError):
        authority.take([large])
    assert [n for n, _ in Journal(folder / "state" / "records.jsonl").lines()] == [1]
    assert not authority.resolve(["note"])[0]["known"]
    small = {**large, "text": "x"}
    assert authority.take([small])["records"] == 8
    assert opened(folder).resolve(["note"])[0]["known"]


def test_a_line_that_a_kill_cut_short_was_never_acknowledged(folder):
    opened(folder).take([FIX_2])
    file = folder / "state" / "records.jsonl"
    whole = file.read_bytes()
    for cut in range(1, len(whole)):
        file.write_bytes(whole + whole[:cut])
        assert [line for _, line in Journal(file).lines()] == [whole.decode()]
    authority = opened(folder)
    authority.take([{"op": "delete", "_id": "fix-3"}])
    rows = [row for _, line in Journal(file).lines() for row in json.loads(line)]
    assert [row.get("op") for row in rows] == [None, "delete"]


def test_the_time_of_the_service_holds_unless_a_request_says_another(folder):
    authority = opened(folder, as_of="2024-02-15")
    assert controlling(authority, "flaw-1") == ["fix-1"]
    assert controlling(authority, "flaw-1", as_of="2024-03-15") == ["fix-1b"]


def test_the_oldest_watched_answer_makes_room(folder, monkeypatch):
    monkeypatch.setattr("argus.service.searching.authority.WATCHED", 2)
    authority = opened(folder)
    for key in "abc":
        authority.watch(key, ["flaw-2"])
    assert authority.take([FIX_2])["stale"] == ["b", "c"]


def test_only_what_leads_on_from_a_document_is_taken_out(folder):
    around = opened(folder).around("flaw-1")
    assert set(around.records) == {"flaw-1", "fix-1", "fix-1b"}
    assert not around.is_active("flaw-1") and around.is_active("fix-1b")
    assert len(opened(folder).around("nobody")) == 0


@pytest.fixture
def chained(folder):
    """Three hundred records, each superseded by the next."""
    ids = [f"d{i}" for i in range(300)]
    rows = [{"_id": id_, "type": "note", "text": f"Text of {id_}."} for id_ in ids]
    edges = [{"superseder": newer, "superseded": older} for older, newer in pairwise(ids)]
    for name, lines in (("records", rows), ("edges", edges)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in lines))
    return opened(folder, rules=None, edges=folder / "edges.jsonl")


def test_long_chains_are_cut_and_told_with_their_length(chained):
    (last, first) = chained.resolve(["d299", "d0", "d0", "d299"])
    assert last["active"] and last["controlling"][0]["hops"] == 0
    (controlling,) = first["controlling"]
    assert (controlling["id"], controlling["hops"]) == ("d299", 299)
    assert [link["superseder"] for link in controlling["chain"]] == [f"d{i}" for i in range(1, 51)]
    answer = chained.resolve([f"d{i}" for i in range(299)])
    assert [one["controlling"][0]["hops"] for one in answer] == list(range(299, 0, -1))
    assert sum(len(one["controlling"][0]["chain"]) for one in answer) == 10_000
    assert answer[-1]["controlling"][0]["chain"] == []


def test_of_many_that_control_a_document_the_nearest_are_named(folder):
    ids = [f"n{i:03}" for i in range(101)]
    rows = [{"_id": id_, "type": "note", "text": "x"} for id_ in ("old", "older", *ids)]
    edges = [{"superseder": "n000", "superseded": "older"}]
    edges += [{"superseder": id_, "superseded": "old"} for id_ in ids]
    for name, lines in (("records", rows), ("edges", edges)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in lines))
    authority = opened(folder, rules=None, edges=folder / "edges.jsonl")
    old, older = authority.resolve(["old", "older"])
    assert (len(old["controlling"]), old["more"]) == (100, True)
    assert (len(older["controlling"]), older["more"]) == (1, False)


def test_others_are_let_in_between_documents_and_what_they_change_counts(chained, monkeypatch):
    monkeypatch.setattr("argus.service.searching.authority.TURN_S", 0)
    rows = [{"op": "delete", "_id": "d299"}]

    def others(_):
        taking = threading.Thread(target=chained.take, args=[rows])
        taking.start()
        taking.join(10)
        assert not taking.is_alive()
        monkeypatch.setattr(time, "sleep", lambda _: None)

    monkeypatch.setattr(time, "sleep", others)
    before, after = chained.resolve(["d0", "d1"])
    assert [one["controlling"][0]["id"] for one in (before, after)] == ["d299", "d298"]
