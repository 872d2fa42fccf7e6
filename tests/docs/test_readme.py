"""The README: short and plain. That it shows what is printed: tests/examples/test_examples.py."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "README.md").read_text("utf-8")
MOST_WORDS, MOST_PER_SENTENCE = 700, 18


def sentences(text: str) -> list[str]:
    """Return the sentences of a page's prose: no code, tables, headings or pictures."""
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    lines = [line for line in text.splitlines() if line[:1] not in ("|", "#", "!")]
    prose = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", "\n".join(lines))
    parts = re.split(r"(?<=[.:;?!])\s+", prose)
    return [part for part in parts if len(part.split()) > 1]


def test_it_is_short_and_its_sentences_are():
    assert len(TEXT.split()) <= MOST_WORDS
    lengths = [len(sentence.split()) for sentence in sentences(TEXT)]
    assert len(lengths) > 30 and sum(lengths) / len(lengths) <= MOST_PER_SENTENCE
