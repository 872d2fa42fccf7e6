"""What a command writes takes the place of nothing else, and what it is given can be written."""

import json
import os

import pytest

GATE = ("gate", "out", "--max-never-retrieved-share", "1")
ROWS = "".join(
    json.dumps({"_id": f"d{n}", "title": f"Harbour {n}", "text": f"Boat {n} lies in harbour {n}."})
    + "\n"
    for n in range(40)
)
ONE = "def ok(query, k): return [('d1', 1.0)]\n"


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with a corpus, a retriever and results, in which commands run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus.jsonl").write_text(ROWS)
    (tmp_path / "ask.py").write_text(ONE)
    return tmp_path


EXPOSURE = ("check", "--corpus", "corpus.jsonl", "--retriever", "ask.py:ok", "--out", "out")


def test_a_file_that_another_option_names_is_no_place_to_write(place, argus):
    (place / "records.jsonl").write_text('{"_id": "a", "type": "policy", "text": "x"}\n')
    ran = argus("authority", "propose", "--records", "records.jsonl", "--to", "records.jsonl")
    assert ran.code == 2 and "records.jsonl is what --records names, too" in ran.err
    ran = argus("init", "--corpus", "corpus.jsonl", "--to", "corpus.jsonl", "--replace")
    assert ran.code == 2 and "is what --corpus names, too" in ran.err
    assert (place / "corpus.jsonl").read_text() == ROWS
    (place / "link.jsonl").symlink_to("corpus.jsonl")
    ran = argus("init", "--corpus", "corpus.jsonl", "--to", "link.jsonl", "--replace")
    assert ran.code == 2 and (place / "corpus.jsonl").read_text() == ROWS


def test_a_report_is_no_pipe(place, argus):
    assert argus(*EXPOSURE).code == 0
    os.mkfifo(place / "pipe")
    ran = argus(*GATE, "--markdown", "pipe")
    assert ran.code == 2 and "is a pipe or a device" in ran.err
    assert argus(*GATE, "--markdown", "x", "--junit", "y.xml").code == 0
    ran = argus(*GATE, "--markdown", "x", "--junit", "x")
    assert ran.code == 2 and "is what --markdown names, too" in ran.err


def test_probes_are_not_written_over_a_collection_of_somebody_elses(place, argus):
    (place / "mine").mkdir()
    (place / "mine/corpus.jsonl").write_text(ROWS)
    (place / "mine/queries.jsonl").write_text('{"_id": "q", "text": "mine"}\n')
    ran = argus("research", "export", "--corpus", "mine", "--out", "mine")
    assert ran.code == 2 and "Argus did not write it" in ran.err
    assert "mine" in (place / "mine/queries.jsonl").read_text()
    for _ in range(2):  # its own are written again
        assert argus("research", "export", "--corpus", "mine", "--out", "probes").code == 0
    assert (place / "probes/qrels/test.tsv").is_file()


@pytest.mark.parametrize(
    "words",
    [
        ("check", "--corpus", "d\udcff.jsonl", "--out", "o"),
        ("check", "--corpus", "corpus.jsonl", "--out", "d\udcff"),
        ("explain", "d\udcff", "--index", "corpus.jsonl"),
    ],
)
def test_what_is_not_utf8_is_refused_by_its_option(words, place, argus):
    ran = argus(*words)
    assert ran.code == 2 and r"\udcff" in ran.err and "is not UTF-8" in ran.err


def test_whatever_a_retriever_raises_is_a_failed_query_without_secrets(place, argus):
    (place / "ask.py").write_text(
        "class Panic(BaseException): pass\n"
        "def ok(query, k):\n"
        "    if len(query) % 2: raise Panic('GET http://me:hush@host/x?api_key=sk-abcdef123456')\n"
        "    return [('d1', 1.0)]\n"
    )
    ran = argus(*EXPOSURE, "--give-up-after", "1000")
    assert ran.code == 0, ran.err
    written = b"".join(p.read_bytes() for p in (place / "out").iterdir() if p.is_file())
    assert b"raised Panic: GET http://***@host/x?api_key=***" in written
    assert b"hush" not in written and b"sk-abc" not in written


def test_texts_of_documents_steer_no_terminal(place, argus):
    text = "tea\x1b]0;owned\x07 and \u202e milk"
    (place / "odd.jsonl").write_text(json.dumps({"_id": "a\x1b[2J", "text": text}) + "\n")
    assert argus("index", "build", "--corpus", "odd.jsonl", "--out", "i").code == 0
    ran = argus("explain", "tea", "--index", "i")
    assert ran.code == 0 and r"tea\u001b]0;owned\u0007 and \u202e milk" in ran.out
    assert not {"\x1b", "\x07", "\u202e"} & set(ran.out)


MINE = [
    b'{"_id": "mine", "text": "years of work"}\n',
    b"\x89PNG\r\n",
    b"<!doctype html><title>Mine",
]


@pytest.mark.parametrize("mine", MINE)
@pytest.mark.parametrize(
    "words",
    [
        "gate out --max-never-retrieved-share 1 --junit mine",
        "gate out --max-never-retrieved-share 1 --markdown mine",
        "authority propose --records records.jsonl --to mine",
        "authority accept reviewed.csv --to mine",
    ],
)
def test_a_file_of_somebody_elses_is_not_written_over(words, mine, place, argus):
    (place / "mine").write_bytes(mine)
    ran = argus(*words.split())
    assert ran.code == 2 and "mine is there, and is not what this option writes" in ran.err
    assert (place / "mine").read_bytes() == mine


def test_what_argus_wrote_is_written_again(place, argus):
    (place / "records.jsonl").write_text(
        '{"_id": "a", "text": "Rule 1 is law.", "date": "2020-01-01"}\n'
        '{"_id": "b", "text": "Supersedes Rule 1, \u201ca\u201d.", "date": "2021-01-01"}\n'
    )
    reviewed = "decision,confidence,superseder,superseded,kind,evidence\naccept,0.9,b,a,stated,x\n"
    (place / "reviewed.csv").write_text(reviewed)
    for _ in range(2):
        ran = argus("authority", "accept", "reviewed.csv", "--to", "edges.jsonl")
        assert ran.code == 0, ran.err
        ran = argus("authority", "propose", "--records", "records.jsonl", "--to", "p.csv")
        assert ran.code == 0, ran.err
