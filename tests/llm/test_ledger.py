import re
import threading

import pytest

from argus.errors import ArgusError
from argus.llm import Entry, Ledger, State

OK, FAILED = State.OK, State.FAILED


def entry(key, state=OK, **fields):
    return Entry(key=key, model="m", prompt="p", state=state, **fields)


def test_rows_come_back_as_they_were_put_also_after_reopening(ledger):
    time = "2026-01-02T03:04:05+00:00"
    whole = entry("k", answer="a", tokens_in=3, tokens_out=2, seconds=0.5, time=time)
    ledger.put(whole)
    ledger.close()
    with Ledger(ledger.path) as again:
        assert again.get("k") == whole and again.get("other") is None


def test_an_answer_replaces_a_failure_and_never_the_reverse(ledger):
    puts = ((FAILED, "", ""), (OK, "a", "a"), (FAILED, "", "a"), (OK, "b", "b"))
    for state, answer, kept in puts:
        ledger.put(entry("k", state, answer=answer))
        assert ledger.get("k").answer == kept
    assert ledger.get("k").state == OK


def test_ledgers_opened_at_once_do_not_disturb_each_other(tmp_path):
    path, errors = tmp_path / "sub" / "ledger.sqlite", []
    start = threading.Barrier(6)

    def open_it():
        start.wait()
        try:
            for _ in range(20):  # the last one that closes makes the next one turn it to WAL
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
