import re
import threading

import pytest

from argus.errors import ArgusError
from argus.llm import Entry, Ledger, State

OK, FAILED = State.OK, State.FAILED


def entry(key, state=OK, **fields):
    return Entry(key=key, model="m", prompt="p", state=state, **fields)


def test_rows_come_back_as_they_were_put_also_after_reopening(ledger):
    whole = entry(
        "k", answer="a", tokens_in=3, tokens_out=2, seconds=0.5, time="2026-01-02T03:04:05+00:00"
    )
    ledger.put(whole)
    ledger.close()
    with Ledger(ledger.path) as again:
        assert again.get("k") == whole
        assert again.get("other") is None
        assert list(again.find(["k", "other"])) == [whole]


def test_an_answer_replaces_a_failure_and_never_the_reverse(ledger):
    ledger.put(entry("k", FAILED, reason="busy"))
    ledger.put(entry("k", OK, answer="a"))
    ledger.put(entry("k", FAILED, reason="busy"))
    assert (ledger.get("k").state, ledger.get("k").answer) == (OK, "a")
    ledger.put(entry("k", OK, answer="b"))
    assert ledger.get("k").answer == "b"


def test_ledgers_opened_at_once_do_not_disturb_each_other(tmp_path):
    path, errors = tmp_path / "sub" / "ledger.sqlite", []
    start = threading.Barrier(6)

    def open_it():
        start.wait()
        try:
            for _ in range(
                20
            ):  # every last one that closes makes the next one turn it to WAL again
                Ledger(path).close()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=open_it) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


@pytest.mark.parametrize("kind", ["no database", "a folder", "below a file"])
def test_what_is_no_ledger_is_refused_and_left_as_it_is(tmp_path, kind):
    path = tmp_path / "other.sqlite"
    if kind == "a folder":
        path.mkdir()
    else:
        path.write_text("not a database at all " * 50)
    before = path.read_bytes() if path.is_file() else b""
    place = path / "ledger.sqlite" if kind == "below a file" else path
    with pytest.raises(ArgusError, match=re.escape(str(place))):
        Ledger(place)
    assert list(tmp_path.iterdir()) == [path] and (path.is_dir() or path.read_bytes() == before)
