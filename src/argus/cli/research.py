"""Declare the commands of `argus research`: methods of papers, benchmarks, published tables.

Each entry names its job elsewhere (`argus.retrievability`, `scenarios`, `generative`, `suite`,
`kb`), and some a function for the next command to run. `show_hits` and `show_recipes` print.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from argus.cli import output
from argus.cli.groups import Entry, Group
from argus.commands import carry, command


def _prediction(result: Any, given: Mapping[str, Any]) -> str:
    from argus.verdict.results import Results

    results = Results.of(given["audit"])
    where = ["--corpus", results.corpus, *results.options_of("research probe predict")]
    return command("research", "probe", "predict", *where, "--probe", result.folder)


probe = Group(
    "Predict how reachable entities are, before anything is indexed.",
    entries=(
        Entry(
            "fit", "argus.retrievability.probes.fit:fit_probe", "Fit probes to an audit.",
            example="argus research probe fit --audit report/ --families ridge", then=_prediction,
        ),
        Entry(
            "predict", "argus.retrievability.probes.predict:predict_rps",
            "Predict the RPS of entities from their vectors.",
            example="argus research probe predict --corpus docs.jsonl --out predicted/",
        ),
    ),
)  # fmt: skip


kb = Group(
    "Make knowledge bases: entities, first paragraphs, relations, aliases.",
    entries=(
        Entry(
            "build", "argus.kb.build:build_kb", "A knowledge base of dumps, triples, rows, pages.",
            example="argus research kb build --pages docs/ --out kb/",
            then="argus research audit --corpus {out} --out report/",
        ),
    ),
)  # fmt: skip


def _adding(_result: Any, given: Mapping[str, Any]) -> str:
    if given["also"]:
        learning = ["--corpus", given["out"], "--profiles", given["out"], "--base", "MODEL_DIR"]
        return command("research", "scenarios", "distill", *learning, "--out", "student/")
    profiles = ["--index", "index/", "--profiles", given["out"]]
    indexing = ["--corpus", given["corpus"], *carry("index build"), "--out", "index/"]
    adding = command("tune", "apply", "scenarios", *profiles)
    return f"{command('index', 'build', *indexing)} && {adding}"


scenarios = Group(
    "What documents would be needed for: audit, ablation, answers, a study, distillation.",
    entries=(
        Entry(
            "write", "argus.scenarios.profiles:profile_documents",
            "Write what documents are needed for (SPIKE).",
            example="argus research scenarios write --corpus docs.jsonl --out profiles/ "
            "--model NAME --base-url http://127.0.0.1:8000/v1",
            then=_adding, estimate="argus.scenarios.profiles:estimate_profiles",
        ),
        Entry(
            "needs", "argus.scenarios.needs.audit:audit_needs",
            "Ask for documents by their needs: their risk.",
            example="argus research scenarios needs --corpus docs.jsonl --profiles profiles/ "
            "--out needs/",
        ),
        Entry(
            "ablate", "argus.scenarios.ablation.job:ablate_scenarios",
            "Search with every component at every λ.",
            example="argus research scenarios ablate --corpus docs.jsonl --profiles profiles/ "
            "--queries queries.jsonl --qrels qrels.tsv",
        ),
        Entry(
            "qa", "argus.scenarios.qa.job:compare_answers",
            "Compare answers with and without scenarios.",
            example="argus research scenarios qa --index index/ --queries queries.jsonl "
            "--model NAME --base-url http://127.0.0.1:8000/v1",
            estimate="argus.scenarios.qa.job:estimate_answers",
        ),
        Entry(
            "study", "argus.scenarios.study:make_study", "Write sheets that people fill in.",
            example="argus research scenarios study --index index/ --queries queries.jsonl "
            "--out study/",
            then="argus research scenarios preferences --study {out} --answers FILLED",
        ),
        Entry(
            "preferences", "argus.scenarios.study:read_preferences",
            "Tell what people prefer, and how far they agree.",
            example="argus research scenarios preferences --study study/ --answers filled/",
        ),
        Entry(
            "distill", "argus.scenarios.distill:distill", "Teach a small model profiles.",
            example="argus research scenarios distill --corpus docs.jsonl --profiles profiles/ "
            "--base student/ --epochs 3",
        ),
    ),
)  # fmt: skip
SHOWN_KEYS = 5


def _training(_result: Any, given: Mapping[str, Any]) -> str:
    return command(
        "research", "generative", "train", "--index", given["out"], "--corpus", given["corpus"],
        *carry("research generative train"),
    )  # fmt: skip


def _searching(result: Any, given: Mapping[str, Any]) -> str:
    model = ["--model", result.model, "--query", "WORDS"]
    return command("research", "generative", "search", given["index"], *model)


def show_hits(answer: Any, as_json: bool) -> None:
    """Print the result of a search, or the passages for one question with their n-grams."""
    if not isinstance(answer, dict):
        return output.show(answer, as_json=as_json)
    if as_json:
        return output.print_json(answer)
    if not answer["results"]:
        output.say("nothing found")
    for hit in answer["results"]:
        title = f"  {hit['title']}" if hit["title"] else ""
        output.say(f"{hit['rank']:>3}  {hit['score']:.2f}  {hit['id']}{title}")
        for k in hit["keys"][:SHOWN_KEYS]:
            times = "once" if k["count"] == 1 else f"{k['count']:,} times"
            output.say(f"     {k['weight']:>8.2f}  {k['view']:<8} {k['text'].strip()} ({times})")
        if rest := hit["keys"][SHOWN_KEYS:]:
            output.say(f"     {sum(k['weight'] for k in rest):>8.2f}  {len(rest):,} more")
        output.say(f"     {output.snippet(hit['text'])}")


generative = Group(
    "Retrieve by n-grams that a language model writes (SEAL, MINDER).",
    entries=(
        Entry(
            "build", "argus.generative.index.build:build_ngrams", "Index every n-gram of a corpus.",
            example="argus research generative build --corpus docs.jsonl --tokenizer bpe:500 "
            "--out ngrams/",
            then=_training,
        ),
        Entry(
            "train", "argus.generative.training.job:train_generative",
            "Train a model to write n-grams.",
            example="argus research generative train --index ngrams/ --corpus docs.jsonl "
            "--d-model 32 --layers 1 --epochs 1 --out trained/",
            then=_searching,
        ),
        Entry(
            "tune", "argus.generative.training.tune:tune_generative",
            "Teach a model to rank: LTRGR.",
            example="argus research generative tune ngrams/ --model trained/ --corpus task/ "
            "--questions q.jsonl --qrels q.tsv --smoothing 0",
            then=_searching,
        ),
        Entry(
            "search", "argus.generative.search:search", "Rank passages by n-grams.",
            example="argus research generative search ngrams/ --model trained/model "
            "--queries queries.jsonl --k 5 --beams 3",
            show=show_hits,
        ),
        Entry(
            "analyse", "argus.generative.failures.analyse:analyse_failures",
            "Why a passage did not come first.",
            example="argus research generative analyse run.trec --corpus docs.jsonl "
            "--queries queries.jsonl --qrels qrels.tsv",
            estimate="argus.generative.failures.analyse:estimate_verdicts",
        ),
    ),
)  # fmt: skip


def show_recipes(listed: list[dict[str, Any]], as_json: bool) -> None:
    """Print a line for each recipe, and the next command."""
    from argus.suite.reproduce import listed_lines

    output.print_json(listed) if as_json else output.print_lines(listed_lines(listed))


app = Group(
    "Measure and repair by the methods of the papers: entities, probes, needs, n-grams.",
    entries=(
        Entry(
            "audit", "argus.retrievability.audit:audit", "How reachable entities are (RPS).",
            example="argus research audit --corpus docs.jsonl --pool 100 --k 10 --out report/",
        ),
        Entry(
            "diagnose", "argus.remedies.diagnosis:diagnose", "Where the risk is, before indexing.",
            example="argus research diagnose --corpus docs.jsonl --kb kb.jsonl --out diagnosis/",
        ),
        Entry(
            "export", "argus.retrievability.exposure:export_probes",
            "Write what argus check asks, to be answered elsewhere.",
            example="argus research export --corpus docs.jsonl --out probes/",
        ),
        Entry("probe", "research:probe", "Learn to predict what comes back."),
        Entry("scenarios", "research:scenarios", "What documents are needed for."),
        Entry("generative", "research:generative", "N-gram retrieval, and why it fails."),
        Entry("authority", "authority:benchmarks", "Benchmarks of supersession, and its harm."),
        Entry(
            "suite", "argus.suite.job:run_suite", "Retrievers x remedies x tasks.",
            example="argus research suite suite.toml --out suite/",
        ),
        Entry(
            "reproduce", "argus.suite.reproduce:reproduce", "A paper's table, beside ours.",
            example="argus research reproduce car-9 --out reproduced/",
        ),
        Entry(
            "recipes", "argus.suite.reproduce:recipes", "The tables, and what is measured here.",
            example="argus research recipes", show=show_recipes,
        ),
        Entry("kb", "research:kb", "Knowledge bases of dumps, triples, pages."),
    ),
)  # fmt: skip
