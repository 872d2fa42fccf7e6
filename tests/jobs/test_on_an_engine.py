"""Whole jobs on the local engine and on a Ray cluster of this machine give what they give here."""

import json
from collections import Counter
from importlib import import_module

import numpy as np
import pyarrow.parquet as pq
import pytest

from argus.data.types import Document
from argus.data.writing import write_jsonl
from argus.encoders import EncoderConfig
from argus.engine import EngineConfig, open_engine
from argus.engine.local import AHEAD
from argus.errors import EncodingError
from argus.indexes.job import add_documents, build_index
from argus.indexes.views import ViewIndex
from argus.kb.build import build_kb
from argus.kb.config import Dumps, KbConfig
from argus.knowledge import KnowledgeSource
from argus.llm import Ledger, LocalConfig, Prompt, open_model
from argus.remedies.diagnosis import diagnose
from argus.retrievability.audit import rank_parts
from argus.retrievability.audit.config import AuditConfig
from argus.retrievability.audit.job import audit
from argus.retrievability.exposure.job import exposure
from argus.scenarios.profiles.config import ProfileConfig
from argus.scenarios.profiles.job import profile_documents
from argus.suite.job import run_suite
from tests.support.dumps import item, items_dump, pages_dump
from tests.support.tiny_llama import make_tokenizer, save_llama, teach
from tests.support.word_encoder import WordEncoder

pytestmark = pytest.mark.slow

FLOAT32 = EncoderConfig(precision="float32")
N = 240
FIRST = ["Alder", "Birch", "Cedar", "Dogwood", "Elm", "Fir"]
SECOND = ["Court", "Gate", "Hall", "House"]
THIRD = ["Ash", "Bay", "Cliff", "Dale", "End", "Ford", "Green", "Hill", "Isle", "Lake"]
TITLES = [f"{a} {b} {c}" for a in FIRST for b in SECOND for c in THIRD]
CONFIG = AuditConfig(k=(5,), pool=(50,))
VOLATILE = {
    "parts",
    "started",
    "finished",
    "timings_s",
    "invocation",
    "peak_memory_bytes",
    "environment",
    "engine",
}


@pytest.fixture(scope="module")
def documents():
    """240 documents; each names two others by their titles."""
    rows = []
    for i, title in enumerate(TITLES):
        near, far = TITLES[(i + 1) % N], TITLES[(7 * i + 3) % N]
        text = f"{title} lies {i} miles from {near}. Its road number {i % 17} leads on to {far}."
        rows.append(Document(f"d{i:03}", text, title))
    return rows


@pytest.fixture(scope="module")
def ray():
    with open_engine(EngineConfig(name="ray", workers=2, object_store_bytes=200 << 20)) as engine:
        yield engine


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(import_module("argus.encoders.embed"), "BATCH_TEXTS", 40)
    monkeypatch.setattr(rank_parts, "PART_QUERIES", 64)


def sections(out, job, name):
    return json.loads((out / name).read_text())[job]


def settled(out, job):
    """What a job's manifest says that must not depend on where it ran."""
    section = sections(out, job, "manifest.json")
    section["encoder"].pop("precision_trials", None)
    return {key: value for key, value in section.items() if key not in VOLATILE}


def tables(out):
    return {path.name: pq.read_table(path) for path in sorted(out.glob("*.parquet"))}


def close(a, b, tolerance):
    """Assert that two tables agree, floats within the tolerance."""
    assert a.schema == b.schema and a.num_rows == b.num_rows
    for name in a.column_names:
        left, right = a[name].to_pylist(), b[name].to_pylist()
        if str(a.schema.field(name).type) in ("float", "double") and tolerance:
            missing = [value is None for value in left]
            assert missing == [value is None for value in right], name
            np.testing.assert_allclose(
                [v or 0.0 for v in left], [v or 0.0 for v in right], atol=tolerance, err_msg=name
            )
        else:
            assert left == right, name


def agree(a, b, job, tolerance=0.0):
    """Assert that two folders hold the same results of a job."""
    left, right = tables(a), tables(b)
    assert left.keys() == right.keys() and left
    for name in left:
        close(left[name], right[name], tolerance)
    if not tolerance:
        assert sections(a, job, "summary.json") == sections(b, job, "summary.json")
    assert settled(a, job) == settled(b, job)
    assert "engine" not in sections(a, job, "manifest.json")
    assert sections(b, job, "manifest.json")["engine"]["name"] in ("local", "ray")


def run_audit(documents, out, **options):
    source = KnowledgeSource(relations="mentions")
    options = {"encoder": WordEncoder(), "config": CONFIG} | options
    return audit(documents, out=out, source=source, **options)


@pytest.fixture(scope="module")
def audited(documents, tmp_path_factory):
    out = tmp_path_factory.mktemp("audited") / "here"
    run_audit(documents, out)
    return out


def test_an_audit_with_a_model(documents, minilm, ray, tmp_path):
    run_audit(documents[:90], tmp_path / "here", encoder=minilm)
    run_audit(documents[:90], tmp_path / "there", encoder=FLOAT32, engine=ray)
    agree(tmp_path / "here", tmp_path / "there", "audit", tolerance=1e-5)
    vectors = [np.fromfile(tmp_path / d / "embeddings" / "vectors.f32", "<f4").reshape(-1, 384)
             for d in ("here", "there")]  # fmt: skip
    assert np.abs(vectors[0] - vectors[1]).max() <= 1e-6


@pytest.mark.parametrize("where", ["local", "ray"])
def test_an_audit_in_many_parts_is_the_same_to_the_last_bit(
    documents, audited, where, ray, tmp_path, small_batches
):
    engine = EngineConfig(workers=2) if where == "local" else ray
    run_audit(documents, tmp_path / "there", engine=engine)
    agree(audited, tmp_path / "there", "audit")
    assert not (tmp_path / "there" / "ranks").exists()


def test_an_index_that_is_built_and_added_to(documents, ray, tmp_path, small_batches):
    for name, where in (("here", None), ("there", ray)):
        build_index(documents[:200], out=tmp_path / name, encoder=WordEncoder(), engine=where)
        more = documents[200:]
        add_documents(tmp_path / name, more, encoder=WordEncoder(), engine=where)
    here, there = (ViewIndex.open(tmp_path / name) for name in ("here", "there"))
    assert here.texts() == there.texts()
    queries = WordEncoder().encode_queries(TITLES)
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    assert here.search(queries, 20) == there.search(queries, 20)
    for job in ("index", "index add"):
        assert settled(tmp_path / "here", job) == settled(tmp_path / "there", job)
        assert "engine" in sections(tmp_path / "there", job, "manifest.json")


def test_an_exposure_run(documents, ray, tmp_path, small_batches, monkeypatch):
    monkeypatch.setattr("argus.indexes.dense.BLOCK_BYTES", 4 * N * 100)
    for name, where in (("here", None), ("there", ray)):
        exposure(documents, out=tmp_path / name, encoder=WordEncoder(), engine=where)
    agree(tmp_path / "here", tmp_path / "there", "exposure")
    assert not (tmp_path / "there" / "ranks").exists()


def test_a_diagnosis(repairable, ray, tmp_path):
    options = {"reference": repairable.reference, "encoder": FLOAT32, "tau": repairable.tau}
    for name, where in (("here", None), ("there", ray)):
        diagnose(repairable.documents, out=tmp_path / name, engine=where, **options)
    agree(tmp_path / "here", tmp_path / "there", "diagnosis", tolerance=1e-5)


SUITE = """
[[retrievers]]
name = "MiniLM"
encoder = "all-MiniLM-L6-v2"
precision = "float32"
[[retrievers]]
name = "BM25"
bm25 = true
remedies = ["none"]
[[remedies]]
name = "blend"
[[tasks]]
name = "roads"
task = "beir:{home}"
"""


def test_a_suite_has_the_rows_of_the_plain_run(
    documents, ray, tmp_path, small_batches, monkeypatch
):
    given, run = [], ray.run
    monkeypatch.setattr(ray, "run", lambda work, *rest: given.append(work.what) or run(work, *rest))
    home, file = tmp_path / "roads", tmp_path / "suite.toml"
    file.write_text(SUITE.format(home=home))
    (home / "qrels").mkdir(parents=True)
    asked = range(0, 90, 9)
    rows = [{"_id": d.id, "title": d.title, "text": d.text} for d in documents[:90]]
    write_jsonl(home / "corpus.jsonl", rows)
    questions = ({"_id": f"q{i}", "text": f"road {i % 17} from {TITLES[i]}"} for i in asked)
    write_jsonl(home / "queries.jsonl", questions)
    judged = (f"q{i}\td{i:03}\t1\nq{i}\td{i + 1:03}\t1" for i in asked)
    (home / "qrels" / "test.tsv").write_text("\n".join(["query-id\tcorpus-id\tscore", *judged]))
    engines = {"here": None, "local": EngineConfig(workers=2), "ray": ray}
    found = {
        name: run_suite(file, out=tmp_path / name, engine=engine).summary["rows"]
        for name, engine in engines.items()
    }
    assert {(row["retriever"], row["remedy"]) for row in found["here"]} == {
        ("MiniLM", "none"), ("MiniLM", "blend"), ("BM25", "none"),
    }  # fmt: skip
    assert found["local"] == found["here"]
    for here, there in zip(found["here"], found["ray"], strict=True):
        assert there["measures"] == pytest.approx(here["measures"], abs=1e-6)
    assert set(given) == {"embedding"}


def test_answers_of_a_language_model(documents, ray, tmp_path):
    folder = save_llama(tmp_path / "tiny", make_tokenizer(), window=1024)
    model = LocalConfig(model=str(folder), batch_size=2, max_tokens_override=12)
    config = ProfileConfig(model=model, max_chars=100, accept_unanswered=True)
    answers = []
    for name, where in (("here", None), ("there", ray)):
        with pytest.raises(Exception, match="none of 9 documents has scenarios"):
            profile_documents(documents[:9], out=tmp_path / name, config=config, engine=where)
        rows = (tmp_path / name / "profiles.jsonl").read_text()
        answers.append((rows, settled(tmp_path / name, "scenarios")))
    assert answers[0] == answers[1]


def test_a_language_model_that_knows_the_answers(ray, tmp_path):
    prompts = [Prompt(f"Where is {title}?", system="s") for title in TITLES[:20]]
    known = [(prompt.system, prompt.text, TITLES[i + 1]) for i, prompt in enumerate(prompts[:9])]
    folder = teach(save_llama(tmp_path / "tiny", make_tokenizer(TITLES), window=160), known)
    config = LocalConfig(model=str(folder), batch_size=3, max_tokens=12)
    answers = []
    for name, where in (("here", None), ("there", ray)):
        with Ledger(tmp_path / name) as ledger:
            outcomes = open_model(config, ledger, where).complete(prompts)
            answers.append([(o.state, o.value, o.reason, o.tokens_out) for o in outcomes])
    assert answers[0] == answers[1]
    assert [value for _, value, *_ in answers[1][:9]] == TITLES[1:10]


def test_a_worker_that_is_killed_costs_one_block(documents, audited, ray, tmp_path, small_batches):
    trap = tmp_path / "trap"
    trap.mkdir()
    run_audit(documents, tmp_path / "there", encoder=WordEncoder(trap, then="die"), engine=ray)
    assert (trap / "died").exists()
    agree(audited, tmp_path / "there", "audit")
    begun = Counter((tmp_path / "trap.begun").read_text().splitlines())
    assert len(begun) == N / 40
    assert 1 <= sum(begun.values()) - len(begun) <= AHEAD  # what the dead worker had in hand


def test_what_stopped_on_a_cluster_goes_on_on_this_machine(
    documents, audited, ray, tmp_path, small_batches
):
    trap, out = tmp_path / "trap", tmp_path / "there"
    trap.mkdir()
    stored = out / "embeddings" / "keys.bin"
    broken = WordEncoder(trap, then="refuse", until=stored)
    with pytest.raises(EncodingError, match="the encoder is out of order"):
        run_audit(documents, out, encoder=broken, engine=ray)
    stored_bytes = stored.read_bytes()
    assert 0 < len(stored_bytes) <= 2 * 40 * 16
    run_audit(documents, out, engine=EngineConfig(workers=2))
    assert stored.read_bytes().startswith(stored_bytes)
    agree(audited, out, "audit")


def test_a_knowledge_base(ray, tmp_path):
    pages = {t: f"'''{t}''' is a place near [[{TITLES[i - 1]}]]." for i, t in enumerate(TITLES)}
    items = [
        item(f"Q{i}", title, title, relations=[("P47", f"Q{(i * 7) % N}")])
        for i, title in enumerate(TITLES)
    ]
    dumps = Dumps(
        wikipedia=str(pages_dump(tmp_path / "pages.bz2", pages)),
        wikidata=str(items_dump(tmp_path / "items.gz", items)),
    )
    config = KbConfig(split_bytes=3_000)
    here = build_kb(dumps, out=tmp_path / "here", config=config, engine=EngineConfig(workers=1))
    there = build_kb(dumps, out=tmp_path / "there", config=config, engine=ray)
    assert here.summary["counts"] == there.summary["counts"]
    assert here.summary["counts"]["entities"] == N
    kbs = [json.loads((tmp_path / name / "kb.json").read_text()) for name in ("here", "there")]
    assert kbs[0]["tables"] == kbs[1]["tables"]
    assert sections(tmp_path / "there", "kb", "manifest.json")["engine"]["name"] == "ray"
