"""A generator of scenarios behind the chat endpoint, and documents for it."""

import json

from argus.data.types import Document
from argus.scenarios import Profiled, ProfileState, Scenario, ScenarioProfile

DOCUMENTS = [
    Document("queue", "A list-like sequence with fast appends and pops near either end."),
    Document("heap", "Heap queue algorithm, also known as a priority queue.", title="heapq"),
    Document("latex", r"The area is $\frac{1}{2} \times b \cdot h$, with \alpha below 90°."),
    Document("code", "for i in range(3):\n\tprint(f'{i!r}\\n')  # \"quoted\" \\d+"),
    Document("table", "| a | b |\n|---|---|\n| 1 | 2 |\n\nTwo columns."),
    Document("greek", "Η ουρά προτεραιότητας επιστρέφει πρώτα το μικρότερο στοιχείο."),
    Document("error", "404 page not found"),
    Document("empty", "   "),
]


def profile(text, n=2):
    """A profile that quotes its document, so that a round trip can be seen."""
    return {
        "noise": False,
        "main_topic": f"About: {text[:40]}",
        "key_aspects": ["first aspect", "second aspect"],
        "scenarios": [
            {
                "information_need": f"A user wants to know thing {i} of {text}",
                "explanation": f"It says so, in part {i}: {text}",
            }
            for i in range(1, n + 1)
        ],
    }


def profiles_of(needs):
    """Profiles of documents by their needs."""
    return {
        doc: Profiled(
            doc, ProfileState.OK,
            ScenarioProfile(f"On {doc}", (), tuple(Scenario(n, f"It says so: {n}") for n in own)),
        )
        for doc, own in needs.items()
    }  # fmt: skip


def shown(prompt):
    """The document in a prompt."""
    return prompt.removeprefix("[Text Content]\n")


def behaving(**special):
    """Answer with a profile; `special` says by a word of the document what is different."""

    def behave(prompt, _):
        text = shown(prompt)
        for word, answer in special.items():
            if word in text:
                return answer(text) if callable(answer) else answer
        return {"text": json.dumps(profile(text), ensure_ascii=False)}

    return behave


NOISE = {"text": json.dumps({"noise": True, "main_topic": "", "key_aspects": [], "scenarios": []})}
