"""Turn a request to start a job into a command line of Argus, if its command and paths are allowed.

The first step of a job of `argus serve` (`POST /jobs`, and the buttons of the pages). Only listed
commands may start, with paths inside the workplace. `argus.service.jobs.queue` runs the line.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

from pydantic import BaseModel, ConfigDict, Field

from argus.data.reading import read_toml
from argus.errors import InputError
from argus.indexes.header import FILE as INDEX_FILE
from argus.indexes.header import IndexSpec, parse_index_spec
from argus.service.workplace import SERVED, STATE, Workplace

Kind = Literal["path", "text", "choice", "number", "flag"]
Value = bool | int | float | str | None
NAME = "argus"
CONFIG = "config"
MAX_CHARACTERS = 4_096  # of one value
# Commands that a request may start.
STARTABLE = (
    "demo", "research audit", "check", "research diagnose", "traffic audit", "traffic judge",
    "traffic preview", "research export", "evaluate", "gate", "report", "explain", "tune try",
    "index build", "index add", "index delete", "index compact", "tune apply blend",
    "tune apply arm", "tune judge",
    "tune apply expand", "tune apply synthesize", "tune apply scenarios", "tune apply adapt",
    "tune undo", "tune list", "tune apply write", "authority lint", "research authority score",
    "research authority generate", "research authority gap", "research authority harm",
    "authority propose", "authority accept", "research suite", "research reproduce",
    "research recipes",
    "research scenarios needs", "research scenarios ablate", "research scenarios qa",
    "research scenarios study", "research scenarios preferences", "research scenarios distill",
    "research scenarios write", "research generative build", "research generative train",
    "research generative tune", "research generative search", "research generative analyse",
    "research probe fit", "research probe predict", "research kb build",
)  # fmt: skip
# Options that name a source of the service by reference. An index may also be a path.
OF_THE_SERVICE = ("index", "retriever", "store", "encoder")
# Text options that name a file or folder, perhaps a state of it.
PLACES = ("index", "corpus", "kb", "source", "sources")
# Free texts that a request may set: questions, ids, dates, names of columns and of measures.
TEXTS = frozenset({
    "query", "doc_id", "remedy", "by", "hybrid", "measures", "headline", "component",
    "qrels_query_field", "qrels_document_field", "qrels_grade_field", "parent_field", "id_field",
    "title_field", "text_field", "query_field", "time_field", "results_field", "feedback_field",
    "split", "k", "pool", "measure", "lambda_", "ids", "name", "collection", "field", "as_of",
    "known_by", "families", "apply", "arm", "target",
})  # fmt: skip
# Options that no request may set, whatever their kind: they load code or other settings.
REFUSED = frozenset({"revision", CONFIG, "adapter"})
REFUSED_OF = frozenset({("research suite", "suite")})  # it names retrievers, models and code


class Declared(NamedTuple):
    """One option, or argument, of a command.

    option: "" of an argument. off: the opposite of a flag, "" where it has none. default: whether
    something holds where it is left out. written: whether the command writes to the place that it
    names.
    """

    name: str
    kind: Kind
    option: str = ""
    off: str = ""
    several: bool = False
    default: bool = False
    written: bool = False


class Commands(Protocol):
    """The commands of Argus."""

    def declared(self, words: Sequence[str]) -> Sequence[Declared]:
        """Return the parameters of a command, arguments in their order. InputError if unknown."""

    def check(self, words: Sequence[str], arguments: Sequence[str]) -> None:
        """Raise InputError for arguments that the command line would refuse."""

    def parse(self, words: Sequence[str], arguments: Sequence[str]) -> dict[str, Any]:
        """Return what is given for each parameter. Raise InputError for what has no meaning."""


class JobRequest(BaseModel):
    """A command to start: "repair" with its options apart, or "argus tune try --only-try" as typed.

    command: command, with its options apart or as typed.
    options: values by the option's name, dashes or underscores.
    """

    model_config = ConfigDict(extra="forbid")
    command: str = Field(max_length=2 * MAX_CHARACTERS, examples=["repair"])
    options: dict[str, Value | list[Value]] = Field(
        default_factory=dict, max_length=100, examples=[{"index": "served", "only_try": True}]
    )


class Planned(NamedTuple):
    """A command that may be run. writes: folders and files that it alone may write meanwhile."""

    words: tuple[str, ...]
    arguments: tuple[str, ...]
    writes: tuple[Path, ...]

    @property
    def line(self) -> str:
        """The command as it would be typed."""
        return shlex.join((NAME, *self.words, *self.arguments))


def plan_job(
    request: JobRequest, workplace: Workplace, commands: Commands, wrote: Collection[str] = ()
) -> Planned:
    """Return the command of a request.

    wrote: paths that jobs wrote before. Raises InputError for a command that may not be started, an
    option that it has not or that only the command line sets, a value that it would refuse, a path
    outside the folders, and a file to write that no job made.
    """
    words = tuple(request.command.split())
    command = " ".join(words)
    if command not in STARTABLE:
        expected = f"one of {', '.join(STARTABLE)}"
        raise _wrong("command", repr(command), expected, "Run other commands at a prompt.")
    declared = commands.declared(words)
    values = _by_name(settled(request, workplace, declared), declared, command)
    served = {file: name for name, file in workplace.inputs.items()}
    options: list[str] = []
    positional: list[str] = []
    writes: list[Path] = []
    for one in declared:
        value = values.get(one.name)
        if value is None:
            if one.written and one.kind == "path" and one.default:
                expected = "a folder inside those that the service was started over"
                raise _wrong(one.name, "not said", expected, "Name one.")
            continue
        several = value if isinstance(value, list) else [value]
        texts = [_text(one, v, workplace) for v in several]
        if one.kind == "flag":
            options += filter(None, texts)
            continue
        if one.written:
            of_index = one.name == "index"
            writes += [parse_index_spec(t).path if of_index else Path(t) for t in texts]
            for file in (path for path in writes if path.is_file()):
                if file in served or str(file) not in wrote:
                    kind = f"what is served ({served[file]})" if file in served else "there already"
                    expected = "a file that a job of this service made, or none yet"
                    fix = "Name another file: what is there would be lost."
                    raise _wrong(one.name, f"{file} is {kind}", expected, fix)
        if one.option:  # a value is part of its option's word, whatever it holds
            options += [f"{one.option}={text}" for text in texts]
        else:
            positional += texts
    arguments = (*options, *(("--", *positional) if positional else ()))
    if workplace.config is not None and any(one.name == CONFIG for one in declared):
        arguments = (f"--{CONFIG}={workplace.config.resolve()}", *arguments)
    commands.check(words, arguments)
    return Planned(words, arguments, tuple(dict.fromkeys(writes)))


def settled(
    request: JobRequest, workplace: Workplace, declared: Sequence[Declared]
) -> Mapping[str, Value | list[Value]]:
    """Return a request's options, with the places to write to that the service's own file names.

    A request may name that file, which every job has anyway, and no other.
    """
    named, config = request.options.get(CONFIG), workplace.config
    if config is None or not isinstance(named, str) or Path(named).resolve() != config.resolve():
        return request.options
    table: Any = read_toml(config)
    places: dict[str, Value | list[Value]] = {}
    for word in (*request.command.split(), ""):
        places |= {
            one.name: table[one.name] for one in declared if one.written and one.name in table
        }
        table = table.get(word) if isinstance(table.get(word), dict) else {}
    return {name: value for name, value in (places | request.options).items() if name != CONFIG}


def _wrong(where: str, got: str, expected: str, fix: str = "Correct it.") -> InputError:
    return InputError(got, expected=expected, fix=fix, where=where)


def _by_name(
    options: Mapping[str, Value | list[Value]], declared: Sequence[Declared], command: str
) -> dict[str, Value | list[Value]]:
    """Return the options by the names they are declared under."""
    names = {one.name: one for one in declared}
    values: dict[str, Value | list[Value]] = {}
    for key, value in options.items():
        name = key.replace("-", "_")
        one = names.get(name) or names.get(f"{name}_")
        if one is None:
            expected = f"one of {', '.join(names)}"
            raise _wrong(key, f"{command} has no such option", expected, "Leave it out.")
        is_named = one.kind != "text" or one.name in {*TEXTS, *OF_THE_SERVICE, *PLACES}
        if not is_named or one.name in REFUSED or (command, one.name) in REFUSED_OF:
            fix = "Name it in the file of `argus serve --config`, or run this at a prompt."
            got = "is set where the service is started, never by a request"
            raise _wrong(key, got, "a command without it", fix)
        if isinstance(value, list) and not one.several:
            raise _wrong(key, "several values", "one", "Give one.")
        values[one.name] = value
    return values


def _text(one: Declared, value: Value, workplace: Workplace) -> str:
    """Return one value as it goes on the command line. "served" stands for a source or corpus."""
    if one.kind == "flag":
        if not isinstance(value, bool):
            raise _wrong(one.name, repr(value), "true or false")
        return one.option if value else one.off
    if isinstance(value, bool) or value is None:
        raise _wrong(one.name, repr(value), "a text or a number")
    text = str(value)
    if not text or len(text) > MAX_CHARACTERS or "\0" in text:
        expected = f"from 1 to {MAX_CHARACTERS:,}, none of them null"
        raise _wrong(one.name, f"a value of {len(text):,} characters", expected)
    is_source = one.name == "index" or (one.name in OF_THE_SERVICE and one.kind == "text")
    is_index = one.name == "index" or (
        one.name == "retriever" and (Path(text) / INDEX_FILE).is_file()
    )
    if is_source and not is_index and text == workplace.served(one.name):
        return text  # as a printed command has it
    if text == SERVED and (is_source or one.name == "corpus"):
        source = workplace.served(one.name)
        if source is None:
            got = f"{text!r}, and the service was started without one"
            raise _wrong(one.name, got, f"--{one.name} of argus serve", "Start it with one.")
        if not is_index:
            return source
        spec = parse_index_spec(source)
        if not one.written:  # only a reader may use an index outside of the folders
            return f"{spec.path.resolve()}{'' if spec.as_of is None else f'@{spec.as_of}'}"
        text = str(spec.path)
    elif is_source and not is_index:
        got = "is named where the service is started, never by a request"
        raise _wrong(one.name, got, SERVED, "Start the service with it.")
    is_place = one.kind == "path" or one.name in PLACES or is_index
    return _inside(one, text, workplace, is_index=is_index) if is_place else text


def _inside(one: Declared, text: str, workplace: Workplace, *, is_index: bool) -> str:
    """Return a path, links followed, which lies in a folder of the workplace."""
    spec = parse_index_spec(text) if is_index else IndexSpec(Path(text))
    try:
        real, is_inside = spec.path.resolve(), workplace.contains(spec.path)
    except (OSError, RuntimeError, ValueError) as error:
        raise _wrong(one.name, str(error), "a path") from error
    if not is_inside:
        got = f"{text!r} lies outside the folders that the service was started over"
        expected = f"a path in {', '.join(map(str, workplace.folders))}"
        raise _wrong(one.name, got, expected, "Start the service over that folder, too.")
    if STATE in real.parts:
        got, fix = f"{text!r} is where the service keeps its own state", "Name a file or folder"
        raise _wrong(one.name, got, "another path", f"{fix} beside it.")
    return str(real) if spec.as_of is None else f"{real}@{spec.as_of}"


def as_request(line: str, commands: Commands) -> JobRequest:
    """Return the request of a typed command. Its options are checked as those of any request.

    Raises InputError for one that may not be started, and for an option that it has not.
    """
    try:
        words = shlex.split(line)
    except ValueError:
        words = []
    is_one = words[:1] == [NAME] and not {"&&", "|", ";", ">"} & set(words)
    longest = (" ".join(words[1:n]) for n in (4, 3, 2) if is_one)
    command = next((one for one in longest if one in STARTABLE), "")
    if not command:
        expected = f"argus and one of {', '.join(STARTABLE)}"
        raise _wrong("command", repr(line), expected, "Run it at a prompt.")
    first = 1 + len(command.split())
    options = commands.parse(words[1:first], words[first:])
    return JobRequest(command=command, options=options)
