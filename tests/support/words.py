"""A small corpus and a retriever by shared words that can be made worse: no model needed."""

import re

from argus.data import Document

SUBJECTS = ("alder", "birch", "cedar", "dogwood", "elm", "fir", "gorse", "hazel", "ivy", "juniper")
PLACES = ("harbour", "mill", "tower", "bridge")


def corpus() -> list[Document]:
    """Return forty documents of two sentences, each about a place of a subject."""
    return [
        Document(
            f"{subject}-{place}",
            f"The {subject} {place} was built by the river long ago. "
            f"Visitors of the {place} see {subject} wood carved over its door.",
            f"{subject.title()} {place}",
        )
        for subject in SUBJECTS
        for place in PLACES
    ]


class ByWords:
    """Ranks by shared words. lost: ids that never come back; failing: ids on which it fails."""

    def __init__(self, documents, lost=(), failing=()):
        self.words = {d.id: tokens(f"{d.title} {d.text}") for d in documents}
        self.lost, self.failing = set(lost), set(failing)

    def search(self, query, k):
        asked = tokens(query)
        if any(set(name.split("-")) <= asked for name in self.failing):
            raise RuntimeError("the index is away")
        scores = {
            id_: len(asked & words) for id_, words in self.words.items() if id_ not in self.lost
        }
        return sorted(scores.items(), key=lambda one: (-one[1], one[0]))[:k]


def tokens(text):
    return set(re.findall(r"[a-z]+", text.lower()))
