"""Read reference knowledge bases, and look up passages on an entity by its name or by BM25.

`research diagnose` and `tune apply expand` and `synthesize` open everything that they ask of a
knowledge base here: passages (`PassageLookup`, ARGUS §5.2, §D.3 step 1), the finder of mentions
(`make_finder`), and the model that predicts reachability (`open_probe`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from argus.corpora.opening import open_corpus, read_corpus
from argus.data.folders import KB_WORDS
from argus.data.types import Document
from argus.encoders import Encoder, pools_spans
from argus.errors import InputError
from argus.indexes.lexical import LexicalIndex
from argus.knowledge.gazetteer import CapitalisedNames, Gazetteer
from argus.knowledge.names import MentionFinder, name_key, names_of
from argus.knowledge.ner import TokenClassifier
from argus.remedies.config import CAPITALS, GAZETTEER, K_AUG, ReferenceConfig
from argus.retrievability.probes import Probe, load_default, load_probe


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage found for an entity. linked: it bears the entity's name, else BM25 found it."""

    document: Document
    linked: bool

    @property
    def id(self) -> str:
        """Id in the knowledge base."""
        return self.document.id


class PassageLookup:
    """BM25 and a name index over the passages of a knowledge base.

    Passages without text are never found: a title alone says nothing about its subject.
    """

    def __init__(self, passages: Sequence[Document], words: LexicalIndex | None = None) -> None:
        """words: a BM25 index over the same passages, if there is one."""
        self._passages = {p.id: p for p in passages if p.text.strip()}
        self._words = words

    def by_words(self, entities: Sequence[str], k: int = K_AUG) -> list[list[Passage]]:
        """Return the k best passages for each surface form, by BM25 (ARGUS §D.3)."""
        hits = self._lexical.search(entities, k)
        return [[Passage(self._passages[i], False) for i in ids] for ids in hits.ids]

    def by_title(
        self, entity: str, entity_ids: Sequence[str] = (), k: int = K_AUG
    ) -> list[Passage]:
        """Return the first k passages that bear an entity's name.

        entity_ids: those that the finder linked. Without any the surface form is looked up, among
        the names of the gazetteer, compared as it does by default: title, title without a final
        parenthesis, aliases, in the same case. Raises InputError for aliases that are not text.
        """
        ids = entity_ids or self._bearers.get(name_key(entity), ())
        return [Passage(self._passages[i], True) for i in ids if i in self._passages][:k]

    @cached_property
    def _lexical(self) -> LexicalIndex:
        if self._words is not None and set(self._words.ids) == self._passages.keys():
            return self._words
        texts = [p.content for p in self._passages.values()]
        return LexicalIndex.build(list(self._passages), texts)

    @cached_property
    def _bearers(self) -> dict[str, list[str]]:
        bearers: dict[str, list[str]] = {}
        for passage in self._passages.values():
            for name in dict.fromkeys(map(name_key, names_of(passage))):
                bearers.setdefault(name, []).append(passage.id)
        return bearers


def read_passages(config: ReferenceConfig) -> list[Document]:
    """Read the passages of all knowledge bases.

    Ids of several knowledge bases begin with the number of theirs, as in "1:k1". Raises InputError
    as `read_corpus` does.
    """
    if len(config.kb) == 1:
        return read_corpus(config.kb[0])
    numbered = ((n, p) for n, path in enumerate(config.kb, 1) for p in read_corpus(path))
    return [Document(f"{n}:{p.id}", p.text, p.title, p.metadata) for n, p in numbered]


def open_lookup(config: ReferenceConfig) -> tuple[list[Document], PassageLookup]:
    """Read the knowledge bases and return their passages and lookup.

    A single knowledge base may have a BM25 index that `argus research kb build` made. It serves
    unless the paragraphs have changed since. Raises InputError without a knowledge base, and as
    `read_passages` does.
    """
    if not config.kb:
        got = "no knowledge base that says what the entities are"
        expected = "--kb FILE, passages with titles"
        fix = "Give one; to see what is at risk without, run `argus research diagnose`."
        raise InputError(got, expected=expected, fix=fix, where="--kb")
    passages, words = read_passages(config), None
    kb = open_corpus(config.kb[0]).kb if len(config.kb) == 1 else None
    if kb is not None:
        key, saved = kb.facts.get("key"), kb.path / KB_WORDS
        if key is not None and LexicalIndex.is_saved(saved, made_of=key):
            words = LexicalIndex.open(saved)
    return passages, PassageLookup(passages, words)


def make_finder(
    config: ReferenceConfig, passages: Sequence[Document], texts: Sequence[str]
) -> MentionFinder:
    """Return the finder of mentions in `texts`. Words common in them are no names."""
    if config.finder == GAZETTEER:
        return Gazetteer.from_documents(passages, config.names, texts=texts)
    if config.finder == CAPITALS:
        return CapitalisedNames()
    model = config.finder.partition(":")[2].strip()
    return TokenClassifier(model) if model else TokenClassifier()


def open_probe(probe: Path | str | Probe | None, encoder: Encoder) -> Probe:
    """Return a probe checked against an encoder. None loads the one shipped for it."""
    pooling = "span" if pools_spans(encoder) else "sentence"
    if probe is None:
        return load_default(encoder.fingerprint, pooling)
    judge = probe if isinstance(probe, Probe) else load_probe(Path(probe))
    where = Path("--probe") if isinstance(probe, Probe) else Path(probe)
    judge.check_vectors_of(encoder.fingerprint, pooling, where=where)
    return judge
