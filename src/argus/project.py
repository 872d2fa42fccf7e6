"""`argus init`: find or ask what a project consists of, and write an argus.toml for every command.

`init`, the command, finds or asks the parts, and calls `start_project`: parts -> commented TOML
with a table per command, the checks of these parts (`argus.health`), and the next command.
`argus.cli.config` reads the file.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

from argus.commands import command, takes
from argus.corpora import CorpusName, NamedCorpus, StoreCorpus, named, named_once
from argus.corpora.opening import open_corpus
from argus.data.documents import ID_FIELDS, TEXT_FIELDS
from argus.data.fields import FieldNames, QrelsFields, prose_fields
from argus.data.rows import FORMATS, field_value, has_field, pick_field, read_rows, suffix_of
from argus.data.writing import write_whole
from argus.encoders.config import DEFAULT_MODEL, EncoderConfig, as_config
from argus.errors import InputError
from argus.health import HealthResult, ProjectParts, Trial
from argus.retrievers.config import AskingConfig
from argus.retrievers.names import http_file, is_index
from argus.settings import Option, check_settings, settings_of
from argus.stores.spec import StoreConfig, asks_store, is_store

HEAD = """\
# The settings of this project, written by `argus init`. Every command reads its own table:
#
#     argus check --config {file}
#
# An option that is given by hand wins. A table holds options of its command, without the dashes
# (argus COMMAND --help lists them); a value above all tables is for every command that has such an
# option. Paths are as seen from where a command is run.
"""


DOCUMENTS = (
    "Where are the documents? A file (JSONL, CSV, TSV, Parquet), a folder of files,\n"
    "or a store (KIND:PLACE/COLLECTION, such as qdrant:http://127.0.0.1:6333/docs)"
)
SEARCH = (
    "What searches them? A model's name, FILE.py:NAME, http:FILE.yaml, a store,\n"
    "or an index's folder"
)
MADE_BY = "Which model made the vectors of the store?"
QUESTIONS = "Which questions are known? A file; Enter: none"
# Rows of a table in which columns are looked for.
MAX_ROWS = 1_000
JUDGEMENTS = "Which documents answer them? A file (BEIR or TREC); Enter: not judged"


@dataclass(frozen=True, kw_only=True)
class ProjectConfig:
    """The file to write, and whether the things that it names are tried first.

    Attributes:
        to: The file of settings.
        replace: Write over a file that is there.
        check: Try what is named, as argus doctor does.
        yes: Ask nothing: find every part, or stop with the option that names it.
    """

    to: Path = Path("argus.toml")
    replace: bool = False
    check: Annotated[bool, Option(("--check/--no-check",))] = True
    yes: bool = False

    def __post_init__(self) -> None:
        check_settings(self)


@dataclass(frozen=True, repr=False)
class ProjectResult(HealthResult):
    """A project that was begun. Its file is written whatever the checks say."""

    file: Path
    next: str
    """The command to go on with."""

    @property
    def summary(self) -> dict[str, Any]:
        """The same as JSON: file, checks, number of bad ones, and next."""
        return {"file": str(self.file), **super().summary, "next": self.next}

    def headline(self) -> Iterator[str]:
        """Yield the checks, the file, and the next command."""
        for check in self.checks:
            yield from check.lines()
        yield f"written: {self.file}"
        yield f"next: {self.next}"


def start_project(
    parts: ProjectParts,
    *,
    columns: FieldNames | None = None,
    asking: AskingConfig | None = None,
    encoder: EncoderConfig | str | None = None,
    config: ProjectConfig | None = None,
) -> ProjectResult:
    """Write a commented file of settings that every command reads with --config.

    parts: the documents at least. The result tells of parts that do not work when they are tried.
    The file is written all the same: it is mended there. Raises InputError where no documents are
    named, and for a file that is there with other settings, unless it is to be replaced.
    """
    config = config or ProjectConfig()
    if parts.corpus is None:
        expected = "a file, a folder, or a store such as qdrant:http://HOST:6333/docs"
        fix = "Name them with --corpus; at a terminal argus init asks."
        raise InputError("no documents are named", expected=expected, fix=fix, where="--corpus")
    columns, asking = columns or FieldNames(), asking or AskingConfig()
    answers = Answers(parts, columns, asking, as_config(encoder or EncoderConfig()))
    for field in fields(parts):
        value = getattr(parts, field.name)
        if isinstance(value, str | Path) and os.path.realpath(value) == os.path.realpath(config.to):
            got = f"is what --{field.name.replace('_', '-')} names, too"
            fix = "Name another file: what is there would be lost."
            raise InputError(got, expected="a place of its own", fix=fix, where=config.to)
    text = "\n".join([HEAD.format(file=config.to.name), *_tables(answers)])
    if not (config.to.is_file() and config.to.read_bytes() == text.encode()):
        check_place(config)
    trial = Trial(parts, columns, asking, answers.encoder)
    checks = tuple(trial.checks()) if config.check else ()
    config.to.parent.mkdir(parents=True, exist_ok=True)
    write_whole(config.to, text)
    is_bad = ProjectResult(checks, config.to, "").bad
    following = command("doctor" if is_bad else "check", "--config", config.to)
    return ProjectResult(checks, config.to, following)


def init(
    parts: ProjectParts,
    *,
    source: Annotated[
        NamedCorpus | None, Option(argument="SOURCE", is_name=True), CorpusName()
    ] = None,
    columns: FieldNames | None = None,
    asking: AskingConfig | None = None,
    encoder: EncoderConfig | None = None,
    config: ProjectConfig | None = None,
) -> ProjectResult:
    """Find or ask what a project consists of, try it, write argus.toml, say what to run next.

    Three questions are asked at a terminal where no documents are named. Without one, or with
    --yes, they are the one table, or the files, of this folder. A column of a table whose name
    is unusual is found by its values, or asked for once. Exit 2 where something that was named
    does not work; the file is written all the same, to be mended.

    Raises InputError as `start_project` does, and for a column that is neither found nor asked for.

    Args:
        source: The documents, as --corpus names them.
    """
    encoder, config = encoder or EncoderConfig(), config or ProjectConfig()
    is_asked = not config.yes and sys.stdin is not None and sys.stdin.isatty()
    start = partial(start_project, asking=asking, config=config)
    parts = replace(parts, corpus=named_once(source, parts.corpus))
    if parts.corpus is None and not is_asked:
        tables = [path for path in Path().iterdir() if suffix_of(path) in FORMATS]
        here = tables[0] if len(tables) == 1 else Path()
        with suppress(InputError):
            open_corpus(here)
            parts = replace(parts, corpus=here)
    if parts.corpus is not None or not is_asked:
        return start(parts, columns=_find_columns(parts, columns, is_asked), encoder=encoder)
    from typer import prompt

    def path(question: str) -> Path | None:
        text = prompt(question, default="", show_default=False).strip()
        return Path(text) if text else None

    check_place(config)
    corpus = named(prompt(DOCUMENTS).strip())
    in_store = isinstance(corpus, StoreCorpus)
    retriever = parts.retriever
    if retriever is None:
        default = str(corpus.store) if isinstance(corpus, StoreCorpus) else encoder.model
        retriever = prompt(SEARCH, default=default).strip()
        is_python = retriever.endswith(".py") or ".py:" in retriever
        is_named = asks_store(retriever) or is_index(retriever) or http_file(retriever) is not None
        if not is_python and not is_named:
            encoder, retriever = replace(encoder, model=retriever), None
    if (in_store or asks_store(retriever or "")) and encoder.model == DEFAULT_MODEL:
        encoder = replace(encoder, model=prompt(MADE_BY, default=DEFAULT_MODEL).strip())
    queries = parts.queries or path(QUESTIONS)
    qrels = parts.qrels
    if queries is not None and qrels is None:
        qrels = path(JUDGEMENTS)
    parts = replace(parts, corpus=corpus, retriever=retriever, queries=queries, qrels=qrels)
    return start(parts, columns=_find_columns(parts, columns, is_asked), encoder=encoder)


def _find_columns(
    parts: ProjectParts, columns: FieldNames | None, is_asked: bool
) -> FieldNames | None:
    """Return the columns of a table: named, by a usual name, by their values, or asked for."""
    source = None if parts.corpus is None else open_corpus(parts.corpus)
    if source is None or source.file is None or source.kb:
        return columns
    from typer import prompt

    columns = columns or FieldNames()
    rows = list(islice(read_rows(source.file), MAX_ROWS))
    values = [row.values for row in rows]
    for what, usual in (("text", TEXT_FIELDS), ("id", ID_FIELDS)) if rows else ():
        name = getattr(columns, what) or next((n for n in usual if has_field(rows[0], n)), None)
        if name is None:
            names = prose_fields(values) if what == "text" else _id_columns(values)
            if len(names) != 1 and not is_asked:
                pick_field(rows[0], usual, what=what, option=f"--{what}-field")
            question = f"Which column holds the {what}? {', '.join(names or values[0])}"
            name = names[0] if len(names) == 1 else prompt(question)
            columns = FieldNames(**{**asdict(columns), what: name})
        if what == "id" and type(field_value(rows[0], name)) is int:
            columns = replace(columns, coerce_ids=True)
    return columns


def _id_columns(rows: Sequence[Values]) -> list[str]:
    """Return the columns of values without spaces that are all different."""
    texts = {name: [str(row.get(name)) for row in rows] for name in rows[0]}
    return [
        name for name, own in texts.items()
        if len({*own}) == len(rows) and all(text.split() == [text] for text in own)
    ]  # fmt: skip


def check_place(config: ProjectConfig) -> None:
    """Raise InputError for a file of settings that is there, unless it is to be replaced."""
    if config.to.exists() and not config.replace:
        got = "is there already"
        fix = "Edit it, name another with --to, or write over it with --replace."
        raise InputError(got, expected="a place for a new file", fix=fix, where=config.to)


REPORT, INDEX, BLENDED = "argus-report", "argus-index", "argus-blended"
"""Folders that the commands write."""
Values = Mapping[str, Any]


def _table(name: str, says: str, values: Values, later: str = "") -> str:
    """Return the settings of one command as TOML, under a comment that says what it is for.

    later: a line that is left out of force, for a person to take in. Of these kinds, a value's text
    is JSON's.
    """
    lines = (f"{k} = {json.dumps(v, ensure_ascii=False)}" for k, v in values.items())
    return "\n".join([f"# {says}", f"[{name}]", *lines, *([f"# {later}"] if later else []), ""])


@dataclass(frozen=True)
class Answers:
    """The answers of a person: the parts, and the options of each."""

    parts: ProjectParts
    columns: FieldNames
    asking: AskingConfig
    encoder: EncoderConfig

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
        return self.parts.retriever or (None if self.store is None else str(self.store.store))

    @property
    def index(self) -> str | None:
        """The Argus index that is the retriever, if one is."""
        retriever = self.parts.retriever
        return retriever if retriever is not None and is_index(retriever) else None


def _tables(answers: Answers) -> Iterator[str]:
    """Yield a table for each command that fits the answers, in the order they would be run."""
    judging, system = _judging(answers.parts), answers.system
    retriever = answers.parts.retriever
    named = {  # the documents and their search, with all options of both
        "corpus": _corpus(answers),
        **_changed(answers.columns),
        **({"retriever": retriever} if retriever else {}),
        **_changed(answers.asking),
        **_opening(answers),
        **_encoder(answers.encoder),
        **_parents(answers),
    }
    yield _table("doctor", "Is everything there?", {**named, **judging})
    searched = {**named, "out": REPORT}
    if store := answers.searched_store or (answers.store and str(answers.store.store)):
        searched["store"] = store
    says = "Which documents do not come back, and which records does a store itself lose?"
    yield _table("check", says, searched)
    yield from _repairs(answers)
    if answers.parts.queries is not None and answers.parts.qrels is not None:
        values: dict[str, Any] = {**judging}
        if system is None:  # the index before and after its repair
            index = answers.index or INDEX
            values |= {"index": [f"{index}@original", index], **_chunks(answers)}
        else:
            values |= {"retriever": [system], "corpus": _corpus(answers)}
            values |= {**_changed(answers.columns), **_parents(answers)}
            values |= {**_changed(answers.asking), **_opening(answers)}
            if asks_store(system):
                values["encoder"] = answers.encoder.model
        yield _table("evaluate", "The judged questions.", {**values, "out": REPORT})
    # `argus explain` and the page ask the running system, or a built index.
    explained: Values = {"index": answers.index or INDEX, **_chunks(answers)}
    served: Values = {}
    later = ""
    if system:
        running = {**named, "retriever": system}
        if not asks_store(system):
            del running["encoder"]
        explained, served = _taken(running, "explain"), _taken(running, "serve")
    elif answers.index:
        served = _taken(explained, "serve")
    else:
        later = f'index = "{INDEX}"  # once argus index build has made it'
    says = 'argus explain "QUESTION" ID says why a document does not come back.'
    yield _table("explain", says, explained)
    says = "A page over the results: its *Why not?* asks the same."
    yield _table("serve", says, {"folders": [REPORT], **served}, later)
    yield _table(
        "gate",
        "For CI: exit 1 where a bound is broken. Tighten them to what you measured.",
        {"folders": [REPORT], "max-never-retrieved-share": 0.1},
        'against = "baseline"  # fails on what is worse than this folder of results',
    )


def _taken(values: Values, command: str) -> Values:
    """Return the values of those options that a command takes."""
    taken = takes(command)
    return {key: value for key, value in values.items() if f"--{key}" in taken}


def _repairs(answers: Answers) -> Iterator[str]:
    """Yield what is tried beside the search that runs, and how findings are mended."""
    store, index = answers.store or answers.searched_store, answers.index or INDEX
    place = str(store.store) if isinstance(store, StoreCorpus) else store or _corpus(answers)
    named = {**_changed(answers.columns), **_encoder(answers.encoder), **_opening(answers)}
    judging = {**_chunks(answers), **(_judging(answers.parts) if answers.parts.qrels else {})}
    running = {"retriever": r} if answers.index is None and (r := answers.parts.retriever) else {}
    if answers.index is None:
        says = "An index of the documents, which changes are tried in."
        values = {"corpus": place, **named, "out": index}
        yield _table("index.build", says, _taken(values, "index build"))
    says = "Keeps what the questions prove; without judged ones, adds the default."
    values = {"index": index, **running, **_changed(answers.asking), **_opening(answers), **judging}
    yield _table("tune.try", says, _taken(values, "tune try"))
    if store is not None:
        values = {"store": place, **named, **_parents(answers), "out": BLENDED}
        says = "Repair the store beside its documents. Undo: argus tune undo"
        yield _table("tune.apply.blend", says, _taken(values, "tune apply blend"))
        shared = {"store": place, **_opening(answers)}
        yield _table("tune.list", "What a store was repaired with.", shared)
        yield _table("tune.undo", "argus tune undo ID undoes exactly that.", shared)
        return
    says = "The default repair by itself, proven or not."
    yield _table("tune.apply.blend", says, {"index": index, **judging})
    yield _table("tune.list", "What the index was repaired with.", {"index": index})
    says = "argus tune undo ID makes it exactly as it was."
    yield _table("tune.undo", says, {"index": index})


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


def _judging(parts: ProjectParts) -> dict[str, Any]:
    """Return questions and judgements, and the columns' names of these where they were given."""
    paths = {"queries": parts.queries, "qrels": parts.qrels}
    named = {name: str(path) for name, path in paths.items() if path is not None}
    return named | _changed(getattr(parts.qrels, "columns", QrelsFields()))


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


def _changed(config: Any) -> dict[str, Any]:
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
