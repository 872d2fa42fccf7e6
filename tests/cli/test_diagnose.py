"""`argus diagnose`: a corpus becomes a table and a report, a mistake a message and exit code 2."""

import json
import shutil
import signal
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from argus.encoders import EncoderConfig, load_encoder
from argus.retrievability.probes import Probe, save_probe
from argus.retrievability.probes.domain import ProbeDomain
from argus.retrievability.probes.models import LinearModel
from tests.support.full_disk import full_disk_under

FLOAT32 = ("--precision", "float32")


@pytest.fixture
def wiki2(shared, tmp_path):
    """The first passages of a real corpus; all of them are the knowledge base."""
    source = shared("wiki2") / "corpus.jsonl"
    with source.open(encoding="utf-8") as lines:
        first = [next(lines) for _ in range(25)]
    path = tmp_path / "corpus.jsonl"
    path.write_text("".join(first), encoding="utf-8")
    return path, source


def save_ridge(folder, fingerprint, dim, pooling):
    """Write a probe that takes every vector."""
    one = np.eye(1, dim, dtype=np.float16)
    domain = ProbeDomain(np.zeros(dim, np.float32), one, np.ones(1, np.float32), 1.0, 1e6)
    model = LinearModel(np.random.default_rng(0).normal(size=dim) / 8, 0.5)
    return save_probe(Probe(model, domain, fingerprint, pooling, dim, 50, 800), folder)


class Embeddings(BaseHTTPRequestHandler):
    """The vector of a text is its length, 20, 3."""

    def do_POST(self):
        texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
        data = [{"index": i, "embedding": [len(text), 20, 3]} for i, text in enumerate(texts)]
        answer = json.dumps({"data": data}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


@pytest.fixture
def embeddings():
    """An OpenAI-compatible endpoint for embeddings on loopback; its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Embeddings) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()
        thread.join()


def rows(folder):
    return pq.read_table(Path(folder) / "diagnosis.parquet").to_pylist()


def steps_left_out(err):
    return "\n".join(line for line in err.splitlines() if not line.endswith(" ..."))


# ---- from end to end -----------------------------------------------------------------------------


def test_a_real_corpus_becomes_a_table_a_summary_and_a_report(argus, wiki2, tmp_path):
    corpus, kb = wiki2
    ran = argus("diagnose", "--corpus", corpus, "--kb", kb, "--out", "out", *FLOAT32, "--json")
    assert ran.code == 0, ran.err
    summary = json.loads(ran.out)
    out = tmp_path / "out"
    table = rows(out)
    assert summary["documents"] == 25 and summary["entities"]["total"] == len(table) > 25
    assert summary["flagged"] == sum(row["flagged"] for row in table) > 0
    assert json.loads((out / "summary.json").read_text())["diagnosis"] == summary
    assert "diagnosis" in json.loads((out / "manifest.json").read_text())
    assert "<html" in (out / "report.html").read_text()
    shown = argus("diagnose", "--corpus", corpus, "--kb", kb, "--out", "out", *FLOAT32)
    first, second, third, last = shown.out.splitlines()
    left_out = summary["finder"]["left_out"]
    assert third.startswith(f"{sum(left_out.values()):,} names of the knowledge base were not ")
    assert f"{left_out['common words']:,} common words" in third and "--common-words" in third
    assert first.startswith(f"{len(table)} entities in ")
    assert second == (
        f"at risk (predicted RPS below 0.3): {summary['share_flagged']:.1%} of the scored, in "
        f"{summary['documents_at_risk']} documents"
    )
    assert last == "report: out/report.html"
    assert rows(out) == table


def test_options_of_names_and_threshold_reach_the_diagnosis(argus, jsonl, tmp_path):
    corpus = jsonl(tmp_path / "c.jsonl", [{"_id": "a", "text": "the STRASSE, c++ and it"}])
    kb = jsonl(tmp_path / "kb.jsonl", [{"_id": str(i), "title": title, "text": ""} for i, title in
                                       enumerate(["Straße", "C++ (language)", "It"])])  # fmt: skip
    ran = argus(
        "diagnose", "--corpus", corpus, "--kb", kb, "--out", "out", *FLOAT32, "--ignore-case",
        "--common-words", "--min-length", 2, "--tau", 1,
    )  # fmt: skip
    assert ran.code == 0 and "below 1)" in ran.out
    assert [row["entity"] for row in rows("out")] == ["STRASSE", "c++", "it"]
    assert [(s["start"], s["end"]) for row in rows("out") for s in row["spans"]] == [
        (4, 11), (13, 16), (21, 23),
    ]  # fmt: skip


def test_ignoring_case_finds_names_in_lower_case(argus, jsonl, tmp_path):
    corpus = jsonl(tmp_path / "c.jsonl", [{"_id": "a", "text": "a deque in bern and new york"}])
    kb = jsonl(tmp_path / "kb.jsonl", [{"_id": t, "title": t, "text": ""} for t in
                                       ("Deque", "Bern", "New York")])  # fmt: skip
    run = ("diagnose", "--corpus", corpus, "--kb", kb, "--out", "out", *FLOAT32)
    assert argus(*run).code == 0 and rows("out") == []
    assert argus(*run, "--ignore-case").code == 0
    assert [row["entity"] for row in rows("out")] == ["deque", "bern", "new york"]


def test_a_config_file_sets_options(argus, wiki2, text, tmp_path):
    corpus, kb = wiki2
    config = text(
        tmp_path / "argus.toml", '[diagnose]\ntau = 0.9\nlimit = 3\nprecision = "float32"'
    )
    ran = argus("diagnose", "--corpus", corpus, "--kb", kb, "--json", "--config", config)
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["tau"] == 0.9 and json.loads(ran.out)["documents"] == 3
    assert (tmp_path / "argus-out" / "report.html").is_file()


def test_an_endpoint_for_embeddings_needs_a_probe_of_its_own(argus, embeddings, jsonl, tmp_path):
    """It gives no token vectors: mentions are judged by the vector of their document."""
    document = {"_id": "a", "text": "The bears live in Bern, not in Thun."}
    corpus = jsonl(tmp_path / "c.jsonl", [document])
    run = ("diagnose", "--corpus", corpus, "--mentions", "capitals", "--out", "out",
           "--encoder", "openai:m", "--base-url", embeddings)  # fmt: skip
    ran = argus(*run)
    assert ran.code == 2 and "no probe ships for openai:m@" in ran.err
    assert "with sentence pooling" in ran.err and "--probe DIR" in ran.err
    encoder = load_encoder(EncoderConfig(model="openai:m", base_url=embeddings)).encoder
    probe = save_ridge(tmp_path / "probe", encoder.fingerprint, encoder.dim, "sentence")
    ran = argus(*run, "--probe", probe, "--json")
    assert ran.code == 0, ran.err
    bern, thun = rows("out")
    assert (bern["entity"], thun["entity"]) == ("Bern", "Thun") and bern["rps"] == thun["rps"]


# ---- what a person should be told ----------------------------------------------------------------


def test_a_corpus_that_names_nothing_says_so_and_what_to_try(argus, wiki2, jsonl, tmp_path):
    corpus = jsonl(tmp_path / "c.jsonl", [{"_id": "a", "text": "nothing is named here"}])
    ran = argus("diagnose", "--corpus", corpus, "--kb", wiki2[1], "--out", "out", *FLOAT32)
    assert ran.code == 0
    first, second, third, last = ran.out.splitlines()
    assert first.startswith("0 entities in 0 of 1 documents")
    assert second.startswith("no document names an entity: give a knowledge base of this corpus")
    for way in ("--ignore-case", "--common-words", "--mentions capitals"):
        assert way in second
    assert "names of the knowledge base were not looked for (" in third
    assert last == "report: out/report.html" and Path("out/report.html").is_file()
    assert rows("out") == []


def test_entities_beyond_the_window_are_told(argus, jsonl, tmp_path):
    text = "The river runs past the old mill and the church on the hill. " * 40 + "So says Bern."
    corpus = jsonl(tmp_path / "c.jsonl", [{"_id": "a", "text": text}])
    kb = jsonl(tmp_path / "kb.jsonl", [{"_id": "b", "title": "Bern", "text": "A city."}])
    ran = argus("diagnose", "--corpus", corpus, "--kb", kb, "--out", "out", *FLOAT32)
    assert ran.code == 0
    assert (
        "1 entities in 1 documents stand only beyond what the model reads of a document: its "
        "vector knows nothing of them"
    ) in ran.out


# ---- bad input -----------------------------------------------------------------------------------


@pytest.fixture
def refused(argus, corpus, tmp_path):
    """Run a diagnosis that must fail; return its message."""

    def run(*arguments, corpus=corpus, writes=False):
        ran = argus("diagnose", "--corpus", corpus, "--out", "out", *FLOAT32, *arguments)
        assert ran.code == 2 and ran.out == ""
        assert writes or not (tmp_path / "out").exists(), "bad input leaves no folder behind"
        assert not (tmp_path / "out" / "diagnosis.parquet").exists()
        return steps_left_out(ran.err)

    return run


def test_without_a_knowledge_base_the_other_ways_are_named(refused):
    message = refused()
    assert message.startswith("argus: --kb: no knowledge base for the gazetteer to take names from")
    assert message.endswith("find names without: --mentions capitals, or ner:MODEL.")


@pytest.mark.parametrize("tau", ["nan", "-1", "2", "inf"])
def test_a_threshold_that_is_no_share_is_refused(refused, corpus, tau):
    message = refused("--kb", corpus, "--tau", tau)
    assert "Invalid value for '--tau': Input should be" in message and "or equal to" in message


def test_a_knowledge_base_without_titles_is_refused(refused, jsonl, tmp_path):
    kb = jsonl(tmp_path / "kb.jsonl", [{"_id": "a", "text": "No title."}])
    assert refused("--kb", kb).startswith(
        "argus: none of 1 documents of the knowledge base has a title; expected names in the field"
    )


def test_an_empty_or_missing_knowledge_base_is_named(refused, text, tmp_path):
    empty = text(tmp_path / "kb.jsonl", "")
    assert refused("--kb", empty).startswith(f"argus: {empty}: no document in it;")
    gone = tmp_path / "gone.jsonl"
    assert refused("--kb", gone).startswith(f"argus: {gone}: no such file or folder;")


def test_a_duplicate_id_or_half_a_character_names_the_line(refused, jsonl, tmp_path):
    twice = jsonl(tmp_path / "c.jsonl", [{"_id": "a", "text": "Bern"}] * 2)
    assert "line 2: id 'a' was already given on line 1" in refused(
        "--mentions", "capitals", corpus=twice
    )
    half = jsonl(tmp_path / "h.jsonl", [{"_id": "a", "text": "Bern \ud800"}])
    assert "line 1, field 'text': half a surrogate pair" in refused(
        "--mentions", "capitals", corpus=half
    )


def test_a_corpus_without_text_cannot_be_diagnosed(refused, jsonl, tmp_path):
    blank = jsonl(tmp_path / "c.jsonl", [{"_id": "a", "text": " "}])
    message = refused("--mentions", "capitals", corpus=blank)
    assert message == ("argus: Nothing can be measured: no document has text. Check --text-field.")


def test_an_unknown_finder_is_refused(refused):
    assert refused("--mentions", "regex").startswith(
        "argus: --mentions: 'regex'; expected gazetteer, capitals, ner, or ner:MODEL."
    )


def test_a_probe_of_another_encoder_is_refused_with_what_to_do(refused, corpus, tmp_path):
    probe = save_ridge(tmp_path / "probe", "sentence-transformers:other@1 dim=384", 384, "span")
    message = refused("--kb", corpus, "--probe", probe, writes=True)
    assert message.startswith(f"argus: {probe} is a probe of another encoder")
    assert "probe: sentence-transformers:other@1" in message and "argus probe fit" in message


def test_a_folder_without_a_probe_is_refused(refused, corpus, tmp_path):
    assert refused("--kb", corpus, "--probe", tmp_path).startswith(
        f"argus: {tmp_path}: no probe.json in it; expected a folder that argus probe fit wrote."
    )


def test_a_full_disk_leaves_the_earlier_results_and_says_so(argus, corpus, tmp_path):
    """/dev/full answers every write as a disk does that has no space left."""
    run = ("diagnose", "--corpus", corpus, "--kb", corpus, "--out", "out", *FLOAT32)
    assert argus(*run).code == 0
    out = tmp_path / "out"
    names = ("diagnosis.parquet", "summary.json", "manifest.json", "report.html")
    for name in names:
        earlier = {n: (out / n).read_bytes() for n in names}
        with full_disk_under(name):
            ran = argus(*run, "--tau", 0.9)
        assert ran.code == 2 and "No space left on device" in ran.err, name
        assert f"out/{name}: " in ran.err
        assert "mend that, and run the same command again." in ran.err.casefold()
        assert (out / name).read_bytes() == earlier[name]
        assert len(rows(out)) > 0 and json.loads((out / "summary.json").read_text())
    ran = argus(*run, "--tau", 0.9, "--json")
    assert ran.code == 0
    assert json.loads(ran.out)["flagged"] == sum(row["flagged"] for row in rows(out))


# ---- killed and run again ------------------------------------------------------------------------


KILLED = """
import os, signal
from argus.cli.main import main
from argus.encoders.store import Store
append = Store.append

def once(self, keys, vectors):
    append(self, keys, vectors)
    os.kill(os.getpid(), signal.SIGKILL)  # once a batch is kept, and before there is another

Store.append = once
main()
"""


@pytest.mark.slow
def test_a_killed_diagnosis_goes_on_and_ends_with_the_same_table(argus, shared, tmp_path):
    """The killed one is a process of its own; the others run in this one, as they would there."""
    kb = tmp_path / "beginnings.jsonl"
    with (shared("wiki2") / "corpus.jsonl").open(encoding="utf-8") as lines:
        read = [json.loads(next(lines)) for _ in range(300)]  # more than one batch of vectors
    kb.write_text("".join(json.dumps(d | {"text": d["text"][:200]}) + "\n" for d in read))

    def options(out):
        return ("diagnose", "--corpus", kb, "--kb", kb, "--out", out, *FLOAT32)

    killed, whole = tmp_path / "killed", tmp_path / "whole"
    command = [sys.executable, "-c", KILLED, *map(str, options(killed))]
    ran = subprocess.run(command, capture_output=True, timeout=300)
    assert ran.returncode == -signal.SIGKILL, ran.stderr
    stored = (killed / "embeddings" / "keys.bin").read_bytes()
    again = shutil.copytree(killed, tmp_path / "again")
    assert not (again / "diagnosis.parquet").exists()
    for out in (again, whole):
        ran = argus(*options(out))
        assert ran.code == 0, ran.err
    both = list(zip(rows(again), rows(whole), strict=True))
    # rounding of a vector depends on the texts of its batch, which a run that goes on has other
    assert all(one.pop("rps") == pytest.approx(two.pop("rps"), abs=1e-5) for one, two in both)
    assert all(one == two for one, two in both)
    finished = (again / "embeddings" / "keys.bin").read_bytes()
    assert 0 < len(stored) < len(finished) and finished.startswith(stored[: len(stored) // 16 * 16])
    assert (again / "report.html").is_file()
