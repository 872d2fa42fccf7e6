"""What a request may start, and what it may set: the rest is said where the service is started."""

from __future__ import annotations

from argus.service.jobs.declared import Declared

STARTABLE = (
    "demo", "audit", "exposure", "reach", "diagnose", "traffic audit", "traffic judge", "evaluate",
    "compare", "gate", "history", "report", "explain", "repair", "index build", "index add",
    "index delete", "index compact", "remedy blend", "remedy expand", "remedy synthesize",
    "remedy scenarios", "remedy adapt", "remedy rollback", "remedy list",
    "remedy queries", "remedy write", "authority lint", "authority audit", "authority score",
    "authority generate", "authority gap", "authority harm", "authority propose",
    "authority accept", "authority learn", "suite", "reproduce", "scenarios needs",
    "scenarios ablate", "scenarios qa", "scenarios study", "scenarios preferences",
    "scenarios distill", "generative build", "generative train",
    "generative tune", "generative search", "generative analyse",
    "probe fit", "probe predict", "kb build",
)  # fmt: skip
"""Commands that a request may start."""
PROMPT_ONLY = {
    "init": "asks its questions of a person",
    "doctor": "tells of the machine, not of the folders",
    "serve": "is what runs already",
    "search": "GET /search answers at once",
    "authority search": "GET /search answers from records, too",
    "authority stream": "POST /records takes what comes",
}
"""Every other command, and why it is none of a service's jobs."""
OF_THE_SERVICE = ("index", "retriever", "store", "encoder")
"""Texts that refer to what the service was started with, or of an index are a path."""
PLACES = ("index", "corpus", "kb")
"""Texts that name a file or folder, perhaps a state of it."""
TEXTS = frozenset({
    "query", "doc_id", "remedy", "by", "hybrid", "measures", "headline", "component", "job",
    "qrels_query_field", "qrels_document_field", "qrels_grade_field", "parent_field", "id_field",
    "title_field", "text_field", "query_field", "time_field",
    "results_field", "feedback_field", "user_field", "session_field", "split", "k", "pool",
    "recall_measure", "ndcg_measure", "measure", "lambda_", "ids", "name", "collection", "field",
    "as_of", "known_by", "families", "apply",
})  # fmt: skip
"""Free texts that a request may set: questions, ids, dates, names of columns and of measures."""
REFUSED = frozenset({"trust_remote_code", "revision", "config", "adapter"})
"""What a request may not set, whatever its kind: it would load code or other settings."""
REFUSED_OF = frozenset({("suite", "file")})
"""The same, of one command: its file names retrievers, models and code."""


def may_set(command: str, one: Declared) -> bool:
    """Return whether a request may set an option of a command."""
    if one.name in REFUSED or (command, one.name) in REFUSED_OF:
        return False
    return one.kind != "text" or one.name in TEXTS or one.name in {*OF_THE_SERVICE, *PLACES}
