"""Check the files and folders that a command line names, before the job's libraries are loaded.

Parsed options -> the same options, with vector databases opened as the other options say, or an
`InputError` for an input that cannot be read or an output that Argus did not write. After Ctrl-C,
`stopped` names the files that are left. `signatures` calls it for every command.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from argus.corpora import CorpusName, NamedCorpus, StoreCorpus, named
from argus.data.fields import QrelsFields
from argus.errors import InputError
from argus.retrievers.config import AskingConfig, check_store_settings
from argus.retrievers.names import is_index
from argus.settings import CORPUS, INDEX, Reads, Writes, notes_of
from argus.stores.spec import StoreConfig, check_store, is_store, refuse_unread


def inputs_of(hints: Mapping[str, Any]) -> dict[str, Reads | CorpusName]:
    """Return what is read, by parameter. hints: types of parameters and of configs' settings.

    A corpus that is a `CorpusName` is left to the job, which may not read it at all.
    """
    return notes_of(hints, CorpusName) | notes_of(hints, Reads)


def _changed(
    values: Mapping[str, Any], names: Collection[str], change: Callable[[Any], Any]
) -> dict[str, Any]:
    """Return a command's values with those of these names changed, in its configs as well."""
    whole = {}
    for name, value in values.items():
        if name in names:
            value = change(value)
        elif is_dataclass(value) and not isinstance(value, type):
            inner = {f.name for f in fields(value)} & set(names)
            changed = {n: change(getattr(value, n)) for n in inner}
            value = replace(value, **changed) if inner else value
        whole[name] = value
    return whole


def with_stores(
    inputs: Mapping[str, Reads | CorpusName], values: Mapping[str, Any], opening: StoreConfig,
    *, alone: bool,
) -> dict[str, Any]:  # fmt: skip
    """Return a command's values, corpora that are stores with how they are opened.

    values: of the command's parameters, configs among them. alone: whether nothing else of the
    command may be a store. If so, options of a store raise InputError where there is none.
    """
    corpora = [name for name, note in inputs.items() if note != INDEX]
    stores = []

    def opened(corpus: str | Path | None) -> NamedCorpus | None:
        place = None if corpus is None else named(corpus)
        if isinstance(place, StoreCorpus):
            place = replace(place, opening=opening)
            stores.append(place)
        return place

    whole = _changed(values, corpora, opened)
    if not stores and alone:
        refuse_unread(opening)
    if stores and not any(map(is_store, _retrievers(whole))):  # of the corpora alone, then
        for name, value in whole.items():
            if isinstance(value, AskingConfig):
                whole[name] = replace(value, opening=StoreConfig())
    return whole


def with_columns(
    judged: Collection[str], values: Mapping[str, Any], columns: QrelsFields
) -> Mapping[str, Any]:
    """Return a command's values, files of judgements with their columns where these are named."""
    if columns == QrelsFields():
        return values
    from argus.data.runs import QrelsFile

    return _changed(
        values, judged, lambda file: QrelsFile(file, columns) if isinstance(file, Path) else file
    )


def _retrievers(values: Mapping[str, Any]) -> list[str]:
    retrievers = values.get("retriever") or ()
    several = [*retrievers] if isinstance(retrievers, list | tuple) else [retrievers]
    if "reaching" in values:  # a check asks the store, and that of the documents, for its records
        named = (values[name] for name in ("store", "source", "corpus"))
        several += [one.store if isinstance(one, StoreCorpus) else one for one in named if one]
    return [str(retriever) for retriever in several]


def check_asking(values: Mapping[str, Any]) -> None:
    """Raise InputError for how a retriever that is a store is opened or filtered: none is one."""
    for value in values.values():
        if isinstance(value, AskingConfig):
            check_store_settings(_retrievers(values), value)


def check_inputs(inputs: Mapping[str, Reads | CorpusName], values: Mapping[str, Any]) -> None:
    """Raise InputError for inputs that cannot be read. values: of the command's parameters."""
    from argus.corpora.opening import open_corpus
    from argus.indexes.header import parse_index_spec, read_header

    flat = dict(values)
    for config in values.values():
        if is_dataclass(config):
            flat |= {f.name: getattr(config, f.name) for f in fields(config)}
    for name, note in inputs.items():
        value = flat.get(name)
        for one in value if isinstance(value, list) else [value]:
            if one is not None and note == INDEX:
                read_header(parse_index_spec(one).path)
            elif one is not None and note == CORPUS and not is_index(str(one)):
                open_corpus(one)
                if isinstance(one, StoreCorpus) and isinstance(one.store, str):
                    check_store(one.store, one.opening)


BEGINNING = 2**16  # bytes of a file that are looked at for its marks


def places(outputs: Mapping[str, Writes], options: Mapping[str, Any]) -> list[str]:
    """Return the files and folders that a command with these options writes to as it goes."""
    for name, note in outputs.items():
        if note.alone and options[name]:
            return [] if options[name] is True else [str(options[name])]
    named = (
        options[name] or note.default(options) for name, note in outputs.items() if not note.alone
    )
    return [str(place) for place in named if place is not None]


def check_outputs(outputs: Mapping[str, Writes], options: Mapping[str, Any]) -> None:
    """Raise InputError for a file that another option names, or that Argus did not write."""
    for name, note in outputs.items():
        for file in map(Path, map(os.path.realpath, _texts(options.get(name)))):
            if not file.is_file():
                continue
            others = [
                other for other, value in options.items()
                if other != name and str(file) in map(os.path.realpath, _texts(value))
            ]  # fmt: skip
            beginning = b""
            if note.marks:
                with file.open("rb") as opened:
                    beginning = opened.read(BEGINNING)
            if others:
                got = f"{file} is what {_option(others[0])} names, too"
            elif beginning and not all(mark.encode() in beginning for mark in note.marks):
                got = f"{file} is there, and is not what this option writes"
            else:
                continue
            fix = "Name another file: what is there would be lost."
            raise InputError(got, expected="a place of its own", fix=fix, where=_option(name))


def check_characters(options: Mapping[str, Any]) -> None:
    """Raise InputError for a text or path of other than UTF-8, or with a NUL: no file has it."""
    for name, value in options.items():
        for text in _texts(value):
            if "\0" in text or any("\ud800" <= c <= "\udfff" for c in text):
                raise InputError(
                    f"{text!a} is not UTF-8 without NUL",
                    expected="text, or the name of a file, in UTF-8",
                    fix="Give it in UTF-8, or rename what it names.",
                    where=_option(name),
                )


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts and paths of an option, which may take several."""
    for one in value if isinstance(value, list | tuple) else (value,):
        if isinstance(one, str | Path):
            yield str(one)


def stopped(outputs: Mapping[str, Writes], options: Mapping[str, Any]) -> str:
    """Name the files that Ctrl-C left, and how to go on. options: of the stopped command."""
    homes = " and ".join(places(outputs, options))
    if not homes:
        return "stopped; nothing was being written"
    again = "the same command without --fresh" if options.get("fresh") else "the same command"
    return f"stopped; what was finished is kept in {homes}: {again} goes on from there"
