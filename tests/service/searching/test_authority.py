"""Records that come while the service runs."""

import hashlib
import json
import os
import shutil
import threading
import time
from itertools import pairwise

import pytest

from argus.errors import ArgusError, InputError
from argus.service.app import create_app
from argus.service.config import ServeConfig
from argus.service.searching.authority import LONGEST_ID, ServedAuthority
from argus.service.searching.journal import Journal
from argus.service.searching.journals import journal_of
from argus.service.state import Service
from argus.service.workplace import STATE, open_workplace
from tests.service.client import Client
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


def test_a_correction_that_an_earlier_version_took_counts_after_a_restart(folder):
    row = {"op": "correct", "_id": "fix-1", "timestamp": "2024-06-01", "title": "Release 2"}
    with pytest.raises(InputError, match="a correction of 'title'"):
        opened(folder).take([row])
    Journal(folder / "state" / "records.jsonl").append(json.dumps([row]))
    assert controlling(opened(folder), "flaw-1") == ["fix-1"]


def test_a_record_that_an_earlier_version_took_again_without_its_edges_is_told(
    folder, story, capsys
):
    rows = [{"_id": i, "type": "t", "timestamp": t, "entities": {"s": "x"}} for i, t in
            (("a", "2020"), ("b", "2021"))]  # fmt: skip
    (folder / "records.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "edges.jsonl").write_text(json.dumps({"superseder": "b", "superseded": "a"}))
    (folder / "rules.yaml").write_text("rules:\n- {superseding: t, superseded: t, scope: [s]}\n")
    shutil.copytree(story / "index", folder / "index")
    source = story_source(folder, edges=folder / "edges.jsonl")
    place = open_workplace([folder], authority=source)
    deletion, earlier = {"op": "delete", "_id": "b"}, {**rows[1], "timestamp": "2019"}
    with pytest.raises(InputError, match="cycle"):
        ServedAuthority(source, journal_of(place)).take([deletion, earlier])
    for row in (deletion, earlier):
        Journal(journal_of(place)).append(json.dumps([row]))
    service = Service(place, ServeConfig())
    assert controlling(service.authority, "b") == ["a"]
    (line,) = map(json.loads, capsys.readouterr().err.splitlines())
    assert line["event"] == "warning" and "record 'b' came again" in line["warning"]


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


@pytest.fixture
def two(story, tmp_path):
    for name in ("one", "other"):
        shutil.copytree(story, tmp_path / name)
    return tmp_path / "one", tmp_path / "other"


def of_folders(*folders, records=None):
    """Return the service over folders, with the records of the first unless others are named."""
    return Service(open_workplace(folders, authority=story_source(records or folders[0])),
                   ServeConfig())  # fmt: skip


def test_what_came_is_there_in_a_folder_that_was_moved_and_in_any_order(two, tmp_path):
    one, other = two
    of_folders(other, one, records=one).authority.take([FIX_2])
    assert controlling(of_folders(one, other).authority, "flaw-2") == ["fix-2"]
    moved = one.rename(tmp_path / "moved")
    service = of_folders(moved)
    assert controlling(service.authority, "flaw-2") == ["fix-2"] and not service.warnings
    service.authority.take([{"op": "delete", "_id": "fix-3"}])
    assert controlling(of_folders(other, moved, records=moved).authority, "flaw-3") == ["flaw-3"]


def earlier_journal(folder, records):
    """Return where a journal lay when its name was of the whole path, with a record that came."""
    name = hashlib.sha256(str((records / "records.jsonl").resolve()).encode()).hexdigest()[:12]
    file = folder / STATE / f"records-{name}.jsonl"
    Journal(file).append(json.dumps([FIX_2]))
    return file


def test_a_journal_of_the_earlier_name_is_gone_on_with(two):
    one, other = two
    file = earlier_journal(other, one)
    service = of_folders(one, other)
    assert controlling(service.authority, "flaw-2") == ["fix-2"]
    service.authority.take([{"op": "delete", "_id": "fix-3"}])
    assert len(list(Journal(file).lines())) == 2
    assert not of_folders(one, other).warnings


def test_a_journal_that_belongs_to_nothing_served_is_told(two, tmp_path, capsys):
    one, other = two
    file = earlier_journal(one, other)
    (warning,) = of_folders(one).warnings
    assert str(file) in warning and "none of them counts" in warning and "rename it" in warning
    assert json.loads(capsys.readouterr().err)["warning"] == warning
    shutil.copy(file, journal_of(open_workplace([one], authority=story_source(one))))
    assert not of_folders(one).warnings  # the same, told once
    (unserved,) = Service(open_workplace([other / "index", one]), ServeConfig()).warnings[:1]
    assert "no records are served" in unserved
    of_folders(other).authority.take([FIX_2])
    (around,) = of_folders(other / "index", records=other).warnings
    assert str(other / STATE) in around


def test_two_journals_of_the_same_records_are_refused(two):
    one, other = two
    of_folders(one).authority.take([FIX_2])
    earlier_journal(other, one)
    assert journal_of(open_workplace([one, other], authority=story_source(one)))
    Journal(earlier_journal(other, one)).append("[]")
    with pytest.raises(InputError, match=r"both hold records.*one journal"):
        of_folders(one, other)


def damage(file, kind):
    file.parent.mkdir()
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "folder":
        file.mkdir()
    else:
        file.write_bytes(b"[]\n" + kind + b"\n")


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("pipe", "no file of its own"),
        ("folder", "no file of its own"),
        (b"{", "line 2: no JSON"),
        (b"5", "line 2: a JSON int"),
        (b"[5]", "line 2: a JSON int"),
        (b"[\xff]", "line 2: no UTF-8"),
        (b'[{"_id": "fix-3", "type": "patch", "timestamp": "2024-05-01"}]', "line 2"),
        (b'[{"op": "delete", "_id": "nobody"}]', "line 2"),
    ],
)
def test_a_damaged_journal_is_told_with_its_place(folder, story, kind, told, capsys):
    shutil.copytree(story / "index", folder / "index")
    place = open_workplace([folder], authority=story_source(folder))
    file = journal_of(place)
    damage(file, kind)
    with pytest.raises(ArgusError) as error:
        ServedAuthority(place.authority, file).take([FIX_2])
    assert not isinstance(error.value, InputError)
    assert str(file) in str(error.value) and told in str(error.value)
    with Client(create_app(place)) as client:
        for answer in (
            client.post("/resolve", json={"ids": ["flaw-2"]}),
            client.post("/records", content=json.dumps(FIX_2)),
        ):
            assert answer.status_code == 503 and str(file) in answer.json()["detail"]
    logged = map(json.loads, capsys.readouterr().err.splitlines())
    assert any(str(file) in line.get("error", "") for line in logged)


def test_records_are_not_read_for_a_journal_that_is_damaged(folder, monkeypatch):
    opened(folder).take([FIX_2])
    with (folder / "state" / "records.jsonl").open("a") as journal:
        journal.write("{\n")
    read = []
    monkeypatch.setattr("argus.service.searching.authority.open_authority", read.append)
    authority = opened(folder)
    for _ in range(2):
        with pytest.raises(ArgusError, match="line 2: no JSON"):
            authority.brought()
    assert not read
