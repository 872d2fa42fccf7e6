"""Mistakes on the command line: each is named, ends with 2, and leaves the folder as it was."""

import json
import shlex

import numpy as np
import pytest

from argus.data.types import Document
from argus.scenarios.files import write_profiles
from tests.cli.conftest import DOCUMENTS
from tests.support.adapting import needs_of
from tests.support.dumps import pages_dump
from tests.support.failures import two_of_three, write_output
from tests.support.ngrams import make_ready
from tests.support.stored_corpora import sqlite_vec
from tests.support.superseding import write_story

QUESTIONS = [{"_id": f"q{i}", "text": f"Who was linked with part {i}?"} for i in range(1, 6)]
AUDIT = "research audit --corpus docs.jsonl --out out"
SCENARIOS = "--corpus scenarios.jsonl --profiles scenarios.jsonl --out out"
EVALUATE = "evaluate --queries queries.jsonl --qrels qrels.tsv --run a.trec --out out"
STORE = "sqlite-vec:store/docs.db/docs"
REMEDY = "--index ix --kb kb.jsonl --tau 0.6"
KB = "research kb build --out kb"
NGRAMS = "research generative"
TRAIN = f"{NGRAMS} train --index ng/index --corpus ng/corpus.jsonl --out out --device cpu"
TUNE = (
    f"{NGRAMS} tune ng/index --model ng/model --corpus ng/corpus.jsonl --questions queries.jsonl "
    "--qrels qrels.tsv --out out --device cpu"
)
QA = (
    "research scenarios qa --index ix --queries queries.jsonl --qrels qrels.tsv --model m "
    "--base-url http://127.0.0.1:1/v1 --out out"
)
LOGGED = json.dumps({"id": "l1", "query": "a mill?", "documents": ["d01"]})
NO_USE = "with a source that has no use for it; expected it with what it is for: "

MISTAKES = {
    AUDIT: {
        "--k 0": "--k: 0; expected a whole number from 1",
        "--pooling mean": "--pooling: 'mean'; expected one of span, sentence",
        "--precision int3": "'int3'; expected one of int8, float32, bfloat16, float16",
        "--engine dask": "--engine: 'dask'; expected one of local, ray",
        "--corpus qdrant:nowhere/docs": "nowhere: no such file or folder",
        "--template {text}": "--template",
    },
    "research diagnose --corpus docs.jsonl --out out": {
        "--kb empty.jsonl": "empty.jsonl: no document in it;",
        "--mentions capitals --vector-field v": "--vector-field",
    },
    "research probe": {
        "fit --audit ix --families forest": "--families: forest",
        "fit --audit story": "no audit in it",
        "predict --corpus docs.jsonl --out out --probe story": "no probe.json in it",
    },
    "authority search x --records story/records.jsonl --rules story/rules.yaml": {
        "--as-of yesterday": "--as-of: 'yesterday'",
        "--chains last": "--chains: 'last'; expected one of all, first",
        "--rules drugz": "drugs",
    },
    "authority lint story/run.json --records story/records.jsonl": {
        "": "neither rules nor edges",
        "--rules story/typo.yaml": "Did you mean 'disclosure'?",
    },
    "explain": {
        "'' d01 --index ix": "an empty query",
        "x --index none": "argus: none: no such folder",
        "x --index story": "is not an index: it holds no index.json",
        "x --index i@": "expected PATH, PATH@original, PATH@REMEDY_ID or",
        "x d01 --index ix@r9": "unknown remedy 'r9'",
        "q9 d01 --index ix --queries queries.jsonl": "no query has the id",
        "x d01 --index ix --supersedes qrels.tsv": "superseder",
        "x d01 --retriever none.py": "none.py: no such file",
        "q1 d01": "--index: neither an index nor a run nor a retriever",
        "q1 d01 --run run.json --index ix": "--index with --run; expected one of them",
        "q1 d01 --retriever a.py --index ix": "--index with --retriever",
        "q2 d01 --run run.json": "no query has the id 'q2'; expected one of its 1 query ids.",
    },
    "evaluate": {
        "--queries queries.jsonl --qrels qrels.tsv": "expected one system, or two",
    },
    "compare": {
        "nothing a.py --queries queries.jsonl --out out": "A: 'nothing' names none",
        "a.py a.py --out out": "--queries: no questions",
    },
    "explain --failed": {
        "--index ix": "--failed without judged questions",
        "--queries queries.jsonl --qrels qrels.tsv": "neither an index nor a run",
    },
    EVALUATE: {
        "--measures nDCG@0": "measure 'nDCG@0' has the cutoff 0",
        "--measures RBP --headline RBP": "measure 'RBP' is not known",
        "--measures ,": "--measures: no measure",
    },
    "index": {
        "compact --index none": "argus: none: no such folder",
        "build --corpus none --out out": "no such file or folder",
        f"build --corpus {STORE} --out out --text-field body": "hold no text",
        f"build --corpus {STORE} --out out --vectors own.npy": "--vectors",
    },
    "check --out out": {
        "--corpus docs.jsonl --engine dask": "--engine: 'dask'",
        "--corpus docs.jsonl --address 10.0.0.1:6379": "for the local engine",
        "--corpus docs.jsonl --template {titel}": "--template",
        "--corpus docs.jsonl --retriever index:none": "none",
        f"--corpus docs.jsonl --retriever {STORE[:-1]}": "'doc'",
        "--corpus qdrant:docs": "names no collection",
        f"--corpus {STORE} --store-metric l2": "--store-metric",
        f"--corpus {STORE} --vector-field other": "no vector field 'other'",
        f"--corpus {STORE} --store-key-env NO_KEY": "--store-key-env",
        "--store redis:here/docs": "'redis:here/docs' names no store",
        "qdrant:nowhere/docs": "nowhere: no such file or folder",
        f"{STORE} --where tenant": "--where: 'tenant'; expected FIELD=VALUE",
    },
    f"tune apply expand {REMEDY}": {
        "--preset best": "--preset: 'best'; expected one of paper, robust",
        "--tau nan": "'--tau'",
        "--tau 0": "nothing to repair: 16 of its 16 entities",
        "--mentions guess": "--mentions: 'guess'; expected gazetteer, capitals",
        "--probe nowhere": "nowhere: no probe.json in it",
        "--queries queries.jsonl": "--queries without --qrels",
    },
    f"tune apply synthesize {REMEDY}": {
        "--preset best": "--preset: 'best'; expected one of paper, robust",
        "--estimate": "--estimate: nothing to estimate without a model",
        "--model m --base-url nowhere": "--base-url: 'nowhere'",
        "--budget 5": "--budget: --budget without --model; expected --model",
        "--timeout 5 --concurrency 2": "--concurrency, --timeout without",
        "--accept-unanswered": "--accept-unanswered without --model",
        "--model m --min-similarity 0.9": "--min-similarity with --model; expected one of them",
        "--model m --budget 1": "both prices, or neither price and no budget",
    },
    "tune apply adapt --index ix": {
        "--profiles none.jsonl": "none.jsonl",
        "--profiles needs.jsonl --rank 500": "at most 384",
        "--profiles needs.jsonl --rank 0": "--rank",
        "--profiles needs.jsonl --temperature 0": "--temperature",
        "--profiles needs.jsonl --queries needs.jsonl": "without --qrels",
    },
    "tune apply scenarios --index ix --profiles needs.jsonl": {
        "--component M+I": "expected one of M, I, E, M+E, I+E",
        "--lambda most": "'most'; expected a number from 0 to 1, or",
    },
    "tune": {
        "list": "--index: neither --index nor --store",
        "try --index ix --apply blend": "--apply: 'blend', and nothing was tried",
        f"list --index ix --store {STORE}": "--index: --index and --store",
        "list --index ix --into x": "--into with --index",
        "apply blend --index ix --store-id x": "--store-id: is said of",
        f"apply blend --store {STORE}": "--encoder: a store without its encoder",
        f"apply blend --store {STORE} --encoder m --queries q": "--queries with --store",
        f"undo blend-1 --store {STORE}": "docs_argus: no record of remedy",
        "apply blend --store redis:a/b --encoder m": "STORE: 'redis:a/b' names no store",
    },
    "traffic": {
        "log.jsonl --out out --rules r.yaml": "rules or edges without records",
        "log.jsonl --out out --split soon": "--split: 'soon'",
        "log.jsonl --out out --hash-only --retriever r.py:f": "a retriever beside --hash-only",
        "log.jsonl --out out --key-file none": "no such file",
        "log.jsonl --out out --query-field ask": "no field 'ask'",
        "audit logs --out logs": "logs: it is the folder of the log; expected another place",
    },
    "traffic judge log.jsonl --corpus docs.jsonl --budget 12 --out out": {
        "--relevant-from 0": "--relevant-from",
        "--api-key-env KEY": "without --model",
    },
    f"research scenarios needs {SCENARIOS}": {
        "--component X": "--component: 'X'; expected one of M, I, E, M+E, I+E",
        "--lambda 1.5": "--lambda: λ = 1.5; expected a number from 0",
    },
    f"research scenarios ablate {SCENARIOS} --queries queries.jsonl --qrels qrels.tsv": {
        "--lambda 0.5,1.5": "λ = 1.5; expected a number from 0",
        "--lambda half": "'half'; expected numbers, separated by commas",
        "--measure nDCG@ten": "measure 'nDCG@ten'",
        "--tune-share 1": "from 0, below 1",
    },
    QA: {
        "--judge-api-key-env K": "--judge-api-key-env without --judge-model",
        "--adapter x": "--adapter with --model m",
    },
    KB: {
        "--entities docs.jsonl --links none": "of --wikipedia",
        "--triples t.tsv --labels l.tsv --split-mib 4": f"{NO_USE}how dumps are read",
    },
    f"{NGRAMS} build --corpus docs.jsonl --out out": {
        "": "--tokenizer: no tokenizer; expected the folder of the model that will search",
        "--tokenizer bpe:x": "--tokenizer: 'bpe:x'; expected bpe:SIZE",
        "--tokenizer none": "none: no such folder; expected a folder with tokenizer",
        "--tokenizer bpe:300 --pseudo-queries docs.jsonl": "docs.jsonl, line 1: no queries field",
    },
    f"{NGRAMS} search ng/index --model ng/model": {
        "": "--queries: neither --queries nor --query; expected one of them",
        "--query a --queries b": "--queries: --queries and --query; expected one",
        "--query ' '": "--query: an empty query",
        "--queries pages": "pages: the folder holds no queries file",
        "--query a --mode sael": "--mode: 'sael'; expected one of seal, minder",
        "--query a --length-penalty 1": "--length-penalty: 1.0; expected a number",
        "--queries x --topics t": "--topics: 't'; expected one of auto, dpr, dpr_qas",
    },
    TRAIN: {
        "--d-model 40": "--d-model: 40; expected a multiple of 16",
        "--model no/such": "no model in it",
        "--device abacus": "--device: 'abacus' is no device",
        "--questions q.jsonl": "--questions: given without --qrels",
    },
    TUNE: {},
    f"{NGRAMS} analyse --out out": {
        "seal.json --estimate": "no language model; expected --llm with --estimate",
        "seal.json --mode seal": "--mode, --beams or --replay without --model",
        "seal.json --model m": "--model without --corpus-index",
        "seal.json --budget 1": "--budget without --llm",
        "broken.json": "broken.json: broken JSON (it breaks off at item [2])",
        "empty.jsonl": "expected",
        "pages": "the folder holds none of dpr.json",
        "seal.json seal.json seal.json": "3 outputs; expected one, or two",
        "q7.trec --corpus docs.jsonl --queries queries.jsonl": "the first 'q7'",
        "far.trec --corpus docs.jsonl --queries queries.jsonl": "none of its documents is in",
    },
}


@pytest.fixture(scope="module")
def place(tmp_path_factory, minilm, repairable):
    """A folder with something of each kind that a command reads."""
    home = tmp_path_factory.mktemp("place")
    pairs = [{"information_need": f"What is it {n}?", "explanation": "It says."} for n in (1, 2)]
    profiled = [row | {"main_topic": "parts", "scenarios": pairs} for row in DOCUMENTS[:5]]
    seal = write_output(home / "seal.json", two_of_three()).read_text()
    qrels = "query-id\tcorpus-id\tscore\nq1\td01\t{}\n"
    files = {
        "docs.jsonl": "".join(json.dumps(row) + "\n" for row in DOCUMENTS),
        "queries.jsonl": "".join(json.dumps(row) + "\n" for row in QUESTIONS),
        "qrels.tsv": qrels.format(1),
        "a.trec": "q1 Q0 d01 1 1.0 x\n",
        "q7.trec": "q7 Q0 d01 1 3.0 x\n",
        "far.trec": "q1 Q0 elsewhere 1 3.0 x\n",
        "run.json": json.dumps({"q1": {"d01": 5.0, "d02": 3.0}}),
        "a.py": "def retriever(query, k): return []\n",
        "log.jsonl": LOGGED,
        "logs/log.jsonl": LOGGED,
        "scenarios.jsonl": "".join(json.dumps(row) + "\n" for row in profiled),
        "kb.jsonl": repairable.kb.read_text(),
        "empty.jsonl": "",
        "none.json": '[{"answers": []}]',
        "broken.json": seal[: seal.index('"Who wrote c?"') + 30],
        "t.tsv": "a\tis\tb\n",
        "l.tsv": "a\tA\nb\tB\n",
        "pages/a.md": "# A\n\nA is a letter of the alphabet here.\n",
    }
    for name, content in files.items():
        (home / name).parent.mkdir(exist_ok=True)
        (home / name).write_text(content, encoding="utf-8")
    pages_dump(home / "pages.xml", {"A": "'''A''' is a letter of the [[B|alphabet]] here."})
    rules = (write_story(home / "story") / "rules.yaml").read_text()
    (home / "story" / "typo.yaml").write_text(rules.replace("disclosure", "disclosre"))
    write_profiles(home / "needs.jsonl", needs_of(repairable.documents).values())
    repairable.copy(home / "ix")
    (home / "ng").mkdir()
    make_ready(home / "ng")
    documents = [Document(row["_id"], row["text"], row["title"]) for row in DOCUMENTS]
    vectors = np.random.default_rng(0).normal(size=(len(documents), 8)).astype(np.float32)
    sqlite_vec(home / "store", documents, vectors)
    return home


def entries(folder):
    return sorted(path for path in folder.rglob("*") if path.name not in {"__pycache__"})


@pytest.mark.parametrize(
    ("line", "message"),
    [(f"{a} {b}", said) for a, cases in MISTAKES.items() for b, said in cases.items()],
)
def test_a_mistake_is_named_and_leaves_the_folder_as_it_was(
    argus, place, monkeypatch, line, message
):
    monkeypatch.chdir(place)
    before = entries(place)
    ran = argus(*shlex.split(line))
    assert (ran.code, ran.out) == (2, "") and message in ran.err
    assert entries(place) == before
