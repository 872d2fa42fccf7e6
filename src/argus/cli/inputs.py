"""What a command reads is looked at before the libraries that read it are loaded.

The job behind the command refuses the same, in the same words, but seconds of imports later.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from argus.corpora import CorpusName, NamedCorpus, StoreCorpus, named
from argus.data.fields import FieldNames, QrelsFields
from argus.retrievers.config import AskingConfig, check_store_settings
from argus.settings import notes_of
from argus.stores.config import StoreConfig, refuse_unread
from argus.stores.spec import is_store


@dataclass(frozen=True, slots=True)
class Input:
    """In an option's type: what it names is read.

    check: takes a value and the columns that are named with it, if any; raises InputError.
    names_corpus: it may be a store; how that is opened then become options of the command, too.
    """

    check: Callable[[Any, FieldNames | None], None]
    names_corpus: bool = False


def _check_corpus(corpus: NamedCorpus, columns: FieldNames | None) -> None:
    from argus.corpora import open_corpus

    source = open_corpus(corpus)
    if isinstance(corpus, StoreCorpus) and isinstance(corpus.store, str):
        from argus.stores.opening import check_store

        check_store(corpus.store, corpus.opening)
    if columns is not None:
        source.check_columns(columns)


def _check_index(spec: str | Path, _columns: FieldNames | None) -> None:
    from argus.indexes.header import read_header
    from argus.indexes.spec import parse_index_spec

    read_header(parse_index_spec(spec).path)


def _check_later(_value: Any, _columns: FieldNames | None) -> None:
    """Leave it to the job, which may not read it at all."""


CORPUS, INDEX = Input(_check_corpus, names_corpus=True), Input(_check_index)


def inputs_of(hints: Mapping[str, Any]) -> dict[str, Input]:
    """Return what is read, by parameter. hints: types of parameters and of configs' settings."""
    corpora = dict.fromkeys(notes_of(hints, CorpusName), Input(_check_later, names_corpus=True))
    return corpora | notes_of(hints, Input)


def with_stores(
    inputs: Mapping[str, Input], values: Mapping[str, Any], opening: StoreConfig, *, alone: bool
) -> dict[str, Any]:
    """Return a command's values, corpora that are stores with how they are opened.

    values: of the command's parameters, configs among them. alone: whether nothing else of the
    command may be a store; raises InputError then for what is said of a store where there is none.
    """
    corpora = [name for name, note in inputs.items() if note.names_corpus]
    places: list[NamedCorpus] = []

    def whole(corpus: str | Path | None) -> NamedCorpus | None:
        if corpus is None:
            return None
        place = named(corpus)
        if isinstance(place, StoreCorpus):
            place = replace(place, opening=opening)
        places.append(place)
        return place

    whole_values = dict(values)
    for name, value in values.items():
        if name in corpora:
            whole_values[name] = whole(value)
        elif is_dataclass(value) and not isinstance(value, type):
            inner = {f.name for f in fields(value)} & set(corpora)
            whole_values[name] = replace(value, **{n: whole(getattr(value, n)) for n in inner})
    if any(isinstance(corpus, StoreCorpus) for corpus in places):
        return _without_opening(whole_values, corpora)
    if alone:
        refuse_unread(opening)
    return whole_values


def with_columns(
    judged: Collection[str], values: Mapping[str, Any], columns: QrelsFields
) -> Mapping[str, Any]:
    """Return a command's values, files of judgements with their columns where these are named."""
    if columns == QrelsFields():
        return values
    from argus.data.qrels import QrelsFile

    def whole(name: str, value: Any) -> Any:
        if isinstance(value, Path) and name in judged:
            return QrelsFile(value, columns)
        if not is_dataclass(value) or isinstance(value, type):
            return value
        own = {f.name: getattr(value, f.name) for f in fields(value) if f.name in judged}
        return replace(value, **{n: whole(n, one) for n, one in own.items()})

    return {name: whole(name, value) for name, value in values.items()}


def _without_opening(values: dict[str, Any], corpora: Sequence[str]) -> dict[str, Any]:
    """Return values in which corpora alone say how a store is opened, if no retriever is one."""
    if any(map(is_store, _retrievers(values))):
        return values
    return {name: value if name in corpora else _unopened(value) for name, value in values.items()}


def _retrievers(values: Mapping[str, Any]) -> list[str]:
    retrievers = values.get("retriever") or ()
    several = retrievers if isinstance(retrievers, list | tuple) else [retrievers]
    return [str(retriever) for retriever in several]


def check_asking(values: Mapping[str, Any]) -> None:
    """Raise InputError for how a retriever that is a store is opened or filtered: none is one."""
    for value in values.values():
        if isinstance(value, AskingConfig):
            check_store_settings(_retrievers(values), value)


def _unopened(value: Any) -> Any:
    return replace(value, opening=StoreConfig()) if isinstance(value, AskingConfig) else value


def check_inputs(inputs: Mapping[str, Input], values: Mapping[str, Any]) -> None:
    """Raise InputError for what cannot be read. values: of the command's parameters.

    Columns are those of the corpus, unless entities come from elsewhere: then it may not be read.
    """
    flat = dict(values)
    for config in values.values():
        if is_dataclass(config):
            flat |= {f.name: getattr(config, f.name) for f in fields(config)}
    named = (value for value in flat.values() if isinstance(value, FieldNames))
    columns = next(named, None) if flat.get("entities") is None else None
    for name, note in inputs.items():
        value = flat.get(name)
        for one in value if isinstance(value, list) else [value]:
            if one is not None:
                note.check(one, columns)
