"""What a repair is told by: a reference knowledge base, a finder of mentions, a probe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from argus.corpora.opening import corpus_file, read_corpus
from argus.data.kb import KnowledgeFolder
from argus.data.kb_file import WORDS, kb_file
from argus.data.types import Document
from argus.encoders import Encoder
from argus.errors import InputError
from argus.indexes.lexical import LexicalIndex
from argus.knowledge.capitals import CapitalisedNames
from argus.knowledge.gazetteer import Gazetteer
from argus.knowledge.ner import TokenClassifier
from argus.knowledge.spotting import MentionFinder
from argus.remedies.lookup import PassageLookup
from argus.remedies.repair.config import CAPITALS, GAZETTEER, ReferenceConfig
from argus.remedies.repair.summary import ReferenceSettings
from argus.retrievability.probes import Probe, load_default, load_probe


@dataclass(frozen=True)
class Reference:
    """A knowledge base that was read, and the settings by which names of it are found."""

    config: ReferenceConfig
    settings: ReferenceSettings
    files: Mapping[str, Path | None]
    """Of the knowledge bases, named for a manifest."""
    passages: Sequence[Document]
    lookup: PassageLookup


def open_reference(config: ReferenceConfig) -> Reference:
    """Read the knowledge bases. Raises InputError where there is none, and as `read_passages`."""
    if not config.kb:
        raise InputError(
            "no knowledge base that says what the entities are",
            expected="--kb FILE, passages with titles",
            fix="Give one; to see what is at risk without, run `argus diagnose`.",
            where="--kb",
        )
    passages = read_passages(config)
    lookup = PassageLookup(passages, read_words(config))
    return Reference(config, config.described(), config.inputs(), passages, lookup)


def read_passages(config: ReferenceConfig) -> list[Document]:
    """Read the passages of all knowledge bases.

    Where there are several, ids begin with the number of the one they are from, as in "1:k1".
    Raises InputError as `read_corpus` does.
    """
    if len(config.kb) == 1:
        return read_corpus(config.kb[0])
    passages = []
    for number, path in enumerate(config.kb, 1):
        for passage in read_corpus(path):
            name = f"{number}:{passage.id}"
            passages.append(Document(name, passage.text, passage.title, passage.metadata))
    return passages


def read_words(config: ReferenceConfig) -> LexicalIndex | None:
    """Return the BM25 index that `argus kb build` made, where that is the one knowledge base.

    None where there is none, or one of other paragraphs than are there now.
    """
    home = corpus_file(config.kb[0]) if len(config.kb) == 1 else None
    if home is None or kb_file(home) is None:
        return None
    key = KnowledgeFolder.open(home).facts.get("key")
    words = home.parent / WORDS
    if key is None or not LexicalIndex.is_saved(words, made_of=key):
        return None
    return LexicalIndex.open(words)


def make_finder(
    config: ReferenceConfig, passages: Sequence[Document], texts: Sequence[str]
) -> MentionFinder:
    """Return what finds mentions in `texts`; words common in them are not taken as names."""
    if config.finder == GAZETTEER:
        return Gazetteer.from_documents(passages, config.names, texts=texts)
    if config.finder == CAPITALS:
        return CapitalisedNames()
    model = config.finder.partition(":")[2].strip()
    return TokenClassifier(model) if model else TokenClassifier()


def open_probe(probe: Path | str | Probe | None, encoder: Encoder) -> Probe:
    """Return the probe given, or the one that ships for the encoder; checked against it."""
    pooling = "span" if encoder.pools_spans else "sentence"
    if probe is None:
        return load_default(encoder.fingerprint, pooling)
    judge = probe if isinstance(probe, Probe) else load_probe(Path(probe))
    where = Path("--probe") if isinstance(probe, Probe) else Path(probe)
    judge.check_vectors_of(encoder.fingerprint, pooling, where=where)
    return judge
