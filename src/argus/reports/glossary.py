"""The words of the report, in plain ones."""

from __future__ import annotations

from collections.abc import Collection

VERDICT = ("reachable", "interval", "good, doubtful, bad", "AUC", "validity")  # of every verdict
TERMS: dict[str, str] = {
    "reachable": "Can be brought back at all: by its own vector, its own words, or what is related "
    "to it. Which real questions fail does not follow from it.",
    "good, doubtful, bad": "A count is good or bad where its whole 95% interval lies within the "
    "bound; else it is doubtful, and a larger sample may decide.",
    "interval": "The range in which a share lies with 95% confidence, as far as the sample tells.",
    "validity": "Whether a figure was seen to tell which real questions fail: measured here, "
    "measured elsewhere, or not validated.",
    "AUC": "How often a figure ranks a question that fails before one that does not: 0.5 is "
    "chance, 1 is perfect.",
    "RPS": "Retrieval Probability Score of an entity: how probable it is that an entity related to "
    "it brings it into the top k among N candidates.",
    "blind spot": "An entity with RPS below 0.33: fewer than a third of what is related to it "
    "brings it back. It may still come back for other questions.",
    "never retrieved": "A document that no query of a run brought into the top k.",
    "held-out sentence": "A sentence taken out of a document and asked as a question; the "
    "document is searched without it.",
    "hub": "A document that comes back for much that is not about it.",
    "Gini": "How unevenly documents come back: 0 all alike, 1 one document takes every place.",
    "need": "What somebody would look for who needs the document, in their words.",
    "nDCG@10": "How well the first ten results are ordered, 0 to 1; 1 has all that is relevant "
    "first.",
    "R@10": "The share of what is relevant that stands among the first ten.",
    "superseded": "Replaced by a newer document that now holds in its place.",
    "λ": "How much a document's own score counts against that of its views.",
    "view": "A text by which a document is indexed: its own, a sentence of it, an expansion, a "
    "scenario. One document may have many.",
    "fold": "How the scores of a document's views become one score.",
    "blend": "A repair that mixes a document's best sentence, its hubness and BM25 into a search.",
    "receipt": "What a repair did: who came back, who fell, what was added, and its price.",
    "anchor": "A retrieved document for which Argus looks up what supersedes it.",
    "controls": "Holds now, in the place of a document that it supersedes, in any number of steps.",
    "scenario": "An information need of a document, and how the document meets it.",
    "not applicable": "Cannot be measured for this item, with the reason; never counted as zero.",
    "fingerprint": "What an encoder is: model, revision, prefixes, pooling, dimensions. Vectors of "
    "two fingerprints are never mixed.",
}
# Terms by the commands that measure them, for docs/reference/glossary.md.
MEASURED: dict[str, tuple[str, ...]] = {
    "reachable": ("research audit", "check", "research scenarios needs"),
    "validity": ("evaluate", "research scenarios needs", "traffic judge"),
    "AUC": ("evaluate", "research scenarios needs", "traffic judge"),
    "RPS": (
        "research audit",
        "research probe predict",
        "research diagnose",
        "research scenarios needs",
    ),
    "blind spot": ("research audit",),
    "never retrieved": ("check",),
    "held-out sentence": ("check",),
    "hub": ("check", "explain", "tune apply blend"),
    "Gini": ("check",),
    "need": ("research scenarios needs",),
    "nDCG@10": ("evaluate", "tune try", "research scenarios ablate"),
    "R@10": ("evaluate",),
    "superseded": ("authority lint", "check", "traffic audit"),
    "λ": ("tune apply blend", "research scenarios ablate"),
}
# Terms by the section that uses them.
OF_SECTION: dict[str, tuple[str, ...]] = {
    "audit": ("RPS", "blind spot"),
    "probe": ("RPS",),
    "diagnosis": ("RPS",),
    "exposure": ("held-out sentence", "never retrieved", "hub", "Gini"),
    "blend": ("hub", "λ"),
    "needs": ("need", "RPS", "λ"),
    "needs_served": ("need",),
    "ablation": ("need", "λ", "nDCG@10"),
    "evaluation": ("nDCG@10", "R@10"),
    "questions": ("nDCG@10", "R@10"),
    "authority": ("superseded",),
    "lint": ("superseded",),
}


def glossary(sections: Collection[str]) -> dict[str, str]:
    """Return the terms that a report of these sections uses, in the order of TERMS."""
    used = {*VERDICT, *(term for name in sections for term in OF_SECTION.get(name, ()))}
    return {term: meaning for term, meaning in TERMS.items() if term in used}
