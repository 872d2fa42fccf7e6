"""The file of settings of a project: its tables, as commented TOML."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from argus.commands import takes
from argus.corpora import StoreCorpus, named
from argus.data.fields import FieldNames, QrelsFields
from argus.encoders.config import EncoderConfig
from argus.health.config import ProjectParts
from argus.retrievers.config import AskingConfig
from argus.retrievers.names import is_index
from argus.settings import settings_of
from argus.stores.spec import StoreConfig, asks_store, is_store

HEAD = """\
# The settings of this project, written by `argus init`. Every command reads its own table:
#
#     argus exposure --config {file}
#
# An option that is given by hand wins. A table holds options of its command, without the dashes
# (argus COMMAND --help lists them); a value above all tables is for every command that has such an
# option. Paths are as seen from where a command is run.
"""


def written(tables: Iterable[Table], file: str) -> str:
    """Return the tables as a commented TOML file. file: its name, for the line at the top."""
    return "\n".join([HEAD.format(file=file), *("\n".join(_lines(t)) + "\n" for t in tables)])


def _lines(table: Table) -> Iterator[str]:
    for line in table.says:
        yield f"# {line}"
    yield f"[{table.command}]"
    for key, value in table.values.items():
        yield f"{key} = {_value(value)}"
    for line in table.open:
        yield f"# {line}"


def _value(value: Any) -> str:
    """Return a value as TOML has it: of these kinds its text is JSON's."""
    return json.dumps(value, ensure_ascii=False)


REPORT, INDEX, BLENDED = "argus-report", "argus-index", "argus-blended"
"""Folders that the commands write."""
Values = Mapping[str, Any]


@dataclass(frozen=True)
class Table:
    """The settings of one command. says: its description, as comments above it.

    open: lines that are left out of force, for a person to take in.
    """

    command: str
    says: tuple[str, ...]
    values: Values
    open: tuple[str, ...] = ()


@dataclass(frozen=True)
class Answers:
    """The answers of a person: the parts, and the options of each."""

    parts: ProjectParts
    columns: FieldNames = field(default_factory=FieldNames)
    asking: AskingConfig = field(default_factory=AskingConfig)
    encoder: EncoderConfig = field(default_factory=EncoderConfig)

    @property
    def store(self) -> StoreCorpus | None:
        """The store that holds the documents, if one does."""
        corpus = self.parts.corpus
        place = None if corpus is None else named(corpus)
        return place if isinstance(place, StoreCorpus) else None

    @property
    def searched_store(self) -> str | None:
        """The store whose own search is the retriever, if one is."""
        retriever = self.parts.retriever
        return retriever if retriever is not None and is_store(retriever) else None

    @property
    def system(self) -> str | None:
        """The running system: a retriever that is no index, or else the store of the documents."""
        if self.index is not None:
            return None
        store = None if self.store is None else str(self.store.store)
        return self.parts.retriever or store

    @property
    def index(self) -> str | None:
        """The Argus index that is the retriever, if one is."""
        retriever = self.parts.retriever
        return retriever if retriever is not None and is_index(retriever) else None


def tables(answers: Answers) -> Iterator[Table]:
    """Yield a table for each command that fits the answers, in the order they would be run."""
    yield Table("doctor", ("Is everything there?",), _everything(answers))
    if store := answers.searched_store or (answers.store and str(answers.store.store)):
        says = ("Which records does the store itself lose?",)
        yield Table("reach", says, {"store": store, "out": REPORT, **_opening(answers)})
    yield Table(
        "exposure",
        ("Which documents do not come back, asked for by their titles and sentences?",),
        {**_searched(answers), **_parents(answers), "out": REPORT},
    )
    yield from _repairs(answers)
    if answers.parts.queries is not None and answers.parts.qrels is not None:
        yield _judged(answers)
    yield from _explained(answers)
    yield Table(
        "gate",
        ("For CI: exit 1 where a bound is broken. Tighten them to what you measured.",),
        {"folders": [REPORT], "max-never-retrieved-share": 0.1},
        ('against = "baseline"  # fails on what is worse than this folder of results',),
    )


def _explained(answers: Answers) -> Iterator[Table]:
    """Yield the system that `argus explain` and the page ask: the running one, or a built index."""
    system = answers.system
    running = {**_searched(answers), **_parents(answers), "retriever": system}
    if not asks_store(system or ""):
        del running["encoder"]
    index = {"index": answers.index or INDEX, **_chunks(answers)}
    says = ('argus explain "QUESTION" ID says why a document does not come back.',)
    yield Table("explain", says, _taken(running, "explain") if system else index)
    values: Values = _taken(running, "serve") if system else {}
    later: tuple[str, ...] = ()
    if answers.index:
        values = _taken(index, "serve")
    elif not system:
        later = (f'index = "{INDEX}"  # once argus index build has made it',)
    says = ("A page over the results: its *Why not?* asks the same.",)
    yield Table("serve", says, {"folders": [REPORT], **values}, later)


def _taken(values: Values, command: str) -> Values:
    """Return the values of those options that a command takes."""
    taken = takes(command)
    return {key: value for key, value in values.items() if f"--{key}" in taken}


def _everything(answers: Answers) -> Values:
    parts = answers.parts
    return {
        **_searched(answers),
        **_parents(answers),
        **_path("queries", parts.queries),
        **_qrels(parts),
    }


def _searched(answers: Answers) -> Values:
    """Return the documents and their search, with all options of both."""
    return {
        "corpus": _corpus(answers),
        **_changed(answers.columns),
        **({"retriever": answers.parts.retriever} if answers.parts.retriever else {}),
        **_changed(answers.asking),
        **_opening(answers),
        **_encoder(answers.encoder),
    }


def _repairs(answers: Answers) -> Iterator[Table]:
    """Yield how findings are mended, where the documents live."""
    store = answers.store or answers.searched_store
    if store is not None:
        place = str(store.store) if isinstance(store, StoreCorpus) else store
        encoder = {
            key: value for key, value in _encoder(answers.encoder).items()
            if key not in ("device", "trust-remote-code", "batch", "concurrency")
        }  # fmt: skip
        named = {**_changed(answers.columns), **_parents(answers)}
        values = {"store": place, **named, **encoder, **_opening(answers)}
        says = ("Repair the store beside its documents: argus remedy blend. Undo: remedy rollback",)
        yield Table("remedy.blend", says, {**values, "out": BLENDED})
        shared = {"store": place, **_opening(answers)}
        yield Table("remedy.list", ("What a store was repaired with.",), shared)
        yield Table("remedy.rollback", ("argus remedy rollback ID undoes exactly that.",), shared)
        return
    index = answers.index or INDEX
    if answers.index is None:
        says = ("An index of the documents, which a repair is made in.",)
        values = {"corpus": _corpus(answers), **_changed(answers.columns)}
        yield Table("index.build", says, {**values, **_encoder(answers.encoder), "out": index})
    judging: dict[str, Any] = (
        {**_path("queries", answers.parts.queries), **_qrels(answers.parts)}
        if answers.parts.qrels is not None
        else {}
    )
    judging |= _chunks(answers)
    says = ("Keeps what the questions prove; without judged ones, adds the default.",)
    yield Table("repair", says, {"index": index, **judging})
    says = ("The default repair by itself, proven or not.",)
    yield Table("remedy.blend", says, {"index": index, **judging})
    yield Table("remedy.list", ("What the index was repaired with.",), {"index": index})
    says = ("argus remedy rollback ID makes it exactly as it was.",)
    yield Table("remedy.rollback", says, {"index": index})


def _judged(answers: Answers) -> Table:
    """Return how a retriever, or an index before and after its repair, does on judged questions."""
    values: dict[str, Any] = {
        **_path("queries", answers.parts.queries), **_qrels(answers.parts),
    }  # fmt: skip
    if answers.system is not None:
        values |= {"retriever": [answers.system], "corpus": _corpus(answers)}
        values |= {**_changed(answers.columns), **_parents(answers)}
        values |= {**_changed(answers.asking), **_opening(answers)}
        if asks_store(answers.system):
            values["encoder"] = answers.encoder.model
    else:
        index = answers.index or INDEX
        values |= {"index": [f"{index}@original", index], **_chunks(answers)}
    return Table("evaluate", ("The judged questions.",), {**values, "out": REPORT})


def _parents(answers: Answers) -> Values:
    field = answers.parts.parent_field
    return {} if field is None else {"parent-field": field}


def _chunks(answers: Answers) -> Values:
    """Return the options that fold chunks of an index to documents, if their field was named."""
    if answers.parts.parent_field is None:
        return {}
    return {"corpus": _corpus(answers), **_changed(answers.columns), **_parents(answers)}


def _corpus(answers: Answers) -> str:
    store = answers.store
    return str(answers.parts.corpus) if store is None else str(store.store)


def _path(name: str, path: Path | None) -> Values:
    return {} if path is None else {name: str(path)}


def _qrels(parts: ProjectParts) -> Values:
    """Return the judgements, and the names of their columns where they were given."""
    columns = getattr(parts.qrels, "columns", QrelsFields())
    return {**_path("qrels", parts.qrels), **_changed(columns)}


def _encoder(encoder: EncoderConfig) -> Values:
    """Return the encoder by name, always, and its other options."""
    return {"encoder": encoder.model, **_changed(replace(encoder, model=EncoderConfig().model))}


def _opening(answers: Answers) -> Values:
    """Return how a store is opened, of the documents or of the search. Both share the options."""
    store = answers.store
    opening = answers.asking.opening if store is None else store.opening
    where = list(answers.asking.where) if asks_store(answers.parts.retriever or "") else []
    values = _changed(opening if opening != StoreConfig() else answers.asking.opening)
    return {**values, **({"where": where} if where else {})}


def _changed(config: Any) -> Values:
    """Return the settings of a config that are not its defaults, by the names of their options."""
    default = type(config)()
    changed: dict[str, Any] = {}
    for setting in settings_of(type(config)):
        value = getattr(config, setting.name)
        if setting.name != "where" and value != getattr(default, setting.name):
            changed[setting.where.removeprefix("--")] = _plain(value)
    return changed


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain(one) for one in value]
    return str(value) if isinstance(value, Path) else value
