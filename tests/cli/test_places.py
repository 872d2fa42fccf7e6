"""What a command writes takes the place of nothing else, and what it is given can be written."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

ARGUS = (sys.executable, "-m", "argus")
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


EXPOSURE = ("exposure", "--corpus", "corpus.jsonl", "--retriever", "ask.py:ok", "--out", "out")


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


def test_a_report_takes_neither_anothers_place_nor_that_of_results(place, argus):
    assert argus(*EXPOSURE).code == 0
    summary = (place / "out/summary.json").read_bytes()
    for option in ("--markdown", "--junit"):
        ran = argus(*GATE, option, "out/summary.json")
        assert ran.code == 2 and "summary.json holds results of Argus" in ran.err
    ran = argus(*GATE, "--markdown", "x", "--junit", "x")
    assert ran.code == 2 and "is what --markdown names, too" in ran.err
    assert (place / "out/summary.json").read_bytes() == summary and not (place / "x").exists()
    os.mkfifo(place / "pipe")
    ran = argus(*GATE, "--markdown", "pipe")
    assert ran.code == 2 and "is a device or a pipe" in ran.err
    assert argus(*GATE, "--markdown", "x", "--junit", "y.xml").code == 0
    assert argus(*GATE, "--markdown", "x", "--junit", "y.xml").code == 0


def test_probes_are_not_written_over_a_collection_of_somebody_elses(place, argus):
    (place / "mine").mkdir()
    (place / "mine/corpus.jsonl").write_text(ROWS)
    (place / "mine/queries.jsonl").write_text('{"_id": "q", "text": "mine"}\n')
    ran = argus("exposure", "--corpus", "mine", "--export-probes", "mine")
    assert ran.code == 2 and "Argus did not write it" in ran.err
    assert "mine" in (place / "mine/queries.jsonl").read_text()
    for _ in range(2):  # its own are written again
        assert argus("exposure", "--corpus", "mine", "--export-probes", "probes").code == 0
    assert (place / "probes/qrels/test.tsv").is_file()


@pytest.mark.parametrize(
    "words",
    [
        ("exposure", "--corpus", "d\udcff.jsonl", "--out", "o"),
        ("exposure", "--corpus", "corpus.jsonl", "--out", "d\udcff"),
        ("search", "d\udcff", "--index", "corpus.jsonl"),
    ],
)
def test_what_is_not_utf8_is_refused_by_its_option(words, place, argus):
    ran = argus(*words)
    assert ran.code == 2 and r"\udcff" in ran.err and "is not UTF-8" in ran.err


def test_a_path_with_a_nul_is_refused_by_its_option(place, argus):
    (place / "nul.toml").write_text('[exposure]\ncorpus = "o\\u0000x"\n')
    ran = argus("exposure", "--config", "nul.toml")
    assert ran.code == 2 and "--corpus" in ran.err and r"\x00" in ran.err


def test_ctrl_c_ends_a_retriever_that_blocks(place):
    (place / "ask.py").write_text("import time\ndef ok(query, k): time.sleep(10**6)\n")
    process = subprocess.Popen(
        [*ARGUS, *EXPOSURE], stderr=subprocess.PIPE, text=True, start_new_session=True,
        env=os.environ | {"ARGUS_PROGRESS": "lines"},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    line = process.stderr.readline()  # it asks
    assert "asking" in line, line
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=120)
    assert process.returncode == 130 and "stopped; " in told and "Traceback" not in told


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


def test_a_reader_that_goes_is_no_verdict(place, argus):
    assert argus(*EXPOSURE).code == 0
    reads, writes = os.pipe()
    os.close(reads)
    words = ("gate", "out", "--max-never-retrieved-share", "1", "--markdown", "-")
    process = subprocess.run([*ARGUS, *words], stdout=writes, stderr=subprocess.PIPE, timeout=60)
    os.close(writes)
    assert (process.returncode, process.stderr) == (141, b"")


def test_without_a_terminal_nothing_is_asked_though_there_be_no_input(place):
    ran = subprocess.run(
        ["/bin/sh", "-c", 'exec "$@" <&-', "sh", *ARGUS, "init"], capture_output=True, timeout=60
    )
    assert ran.returncode == 2 and b"no documents are named" in ran.stderr


def test_numbers_beyond_any_list_are_refused_and_memory_that_does_not_suffice_is_said(
    place, argus, monkeypatch
):
    for k in (2**63, 3 * 10**12):
        ran = argus(*EXPOSURE, "--k", k)
        assert ran.code == 2 and "--k" in ran.err and "a fault of" not in ran.err

    def exhausted(*_words, **_settings):
        raise MemoryError("Unable to allocate 43.7 TiB")

    monkeypatch.setattr("argus.retrievability.exposure.job.read_documents", exhausted)
    ran = argus(*EXPOSURE)
    assert ran.code == 2 and "memory does not suffice (Unable to allocate 43.7 TiB)" in ran.err


def test_a_pipe_is_no_description_of_an_endpoint(place, argus):
    os.mkfifo(place / "pipe")
    ran = argus("exposure", "--corpus", "corpus.jsonl", "--retriever", "http:pipe", "--out", "out")
    assert ran.code == 2 and "pipe: is a pipe or a device" in ran.err


def test_texts_of_documents_steer_no_terminal(place, argus):
    text = "tea\x1b]0;owned\x07 and \u202e milk"
    (place / "odd.jsonl").write_text(json.dumps({"_id": "a\x1b[2J", "text": text}) + "\n")
    assert argus("index", "build", "--corpus", "odd.jsonl", "--out", "i").code == 0
    ran = argus("search", "tea", "--index", "i")
    assert ran.code == 0 and r"tea\u001b]0;owned\u0007 and \u202e milk" in ran.out
    assert not {"\x1b", "\x07", "\u202e"} & set(ran.out)


def test_no_page_takes_the_place_of_a_part_of_results(place, argus):
    assert argus(*EXPOSURE).code == 0
    assert argus("index", "build", "--corpus", "corpus.jsonl", "--out", "i").code == 0
    folder = place / EXPOSURE[-1]
    parts = [place / "i/index.json", place / "i/.argus", place / "i/lock", folder / ".argus"]
    parts += [*place.glob("i/embeddings/vectors.*"), *place.glob("i/views.lance/data/*")]
    parts += [*folder.glob("embeddings/vectors.*"), *folder.glob("history/*/run.json")]
    for part in parts:
        before = part.read_bytes()
        ran = argus(*GATE, "--junit", str(part))
        assert ran.code == 2 and "holds results of Argus" in ran.err, (part, ran)
        assert part.read_bytes() == before
    assert len(parts) > 6
    assert argus(*GATE, "--junit", "page.xml").code == 0
    assert argus(*GATE, "--junit", "page.xml").code == 0


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


@pytest.mark.parametrize("name", ["a\nb", "a\tb", "\x1b[31m", "a\u2028b"])
def test_a_name_with_control_characters_is_no_place_to_write(name, place, argus):
    for words in (("index", "build"), EXPOSURE[:1]):
        ran = argus(*words, "--corpus", "corpus.jsonl", "--out", name)
        assert (ran.code, ran.out) == (2, "")
        assert "--out: " in ran.err and "holds control characters" in ran.err
    assert {entry.name for entry in place.iterdir()} == {"corpus.jsonl", "ask.py"}
