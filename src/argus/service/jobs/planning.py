"""Turn a request into a command line of Argus, within the commands and options that it allows."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from pydantic import BaseModel, ConfigDict, Field

from argus.errors import InputError
from argus.indexes.header import parse_index_spec
from argus.service.workplace import BESIDE, SERVED, STATE, Workplace

Kind = Literal["path", "text", "choice", "number", "flag"]
Value = bool | int | float | str | None
NAME = "argus"
CONFIG = "config"
MAX_CHARACTERS = 4_096  # of one value
STARTABLE = (
    "demo", "audit", "exposure", "reach", "diagnose", "traffic audit", "traffic judge", "evaluate",
    "compare", "gate", "history", "report", "explain", "repair", "index build", "index add",
    "index delete", "index compact", "remedy blend", "remedy expand", "remedy synthesize",
    "remedy scenarios", "remedy adapt", "remedy rollback", "remedy list",
    "remedy queries", "remedy write", "authority lint", "authority audit", "authority score",
    "authority generate", "authority gap", "authority harm", "authority propose",
    "authority accept", "suite", "reproduce", "scenarios needs",
    "scenarios ablate", "scenarios qa", "scenarios study", "scenarios preferences",
    "scenarios distill", "generative build", "generative train",
    "generative tune", "generative search", "generative analyse",
    "probe fit", "probe predict", "kb build",
)  # fmt: skip
"""Commands that a request may start."""
PROMPT_ONLY = {
    "init": "asks its questions of a person",
    "doctor": "tells of the machine, not of the folders",
    "serve": "is what runs already",
    "search": "GET /search answers at once",
    "authority search": "GET /search answers from records, too",
    "authority stream": "prints its figures, and writes none",
}
"""Every other command, and why it is none of a service's jobs."""
OF_THE_SERVICE = ("index", "retriever", "store", "encoder")
"""Options that name a source of the service by reference. An index may also be a path."""
PLACES = ("index", "corpus", "kb")
"""Text options that name a file or folder, perhaps a state of it."""
TEXTS = frozenset({
    "query", "doc_id", "remedy", "by", "hybrid", "measures", "headline", "component", "job",
    "qrels_query_field", "qrels_document_field", "qrels_grade_field", "parent_field", "id_field",
    "title_field", "text_field", "query_field", "time_field",
    "results_field", "feedback_field", "user_field", "session_field", "split", "k", "pool",
    "recall_measure", "ndcg_measure", "measure", "lambda_", "ids", "name", "collection", "field",
    "as_of", "known_by", "families", "apply",
})  # fmt: skip
"""Free texts that a request may set: questions, ids, dates, names of columns and of measures."""
REFUSED = frozenset({"trust_remote_code", "revision", CONFIG, "adapter"})
"""Options that no request may set, whatever their kind: they load code or other settings."""
REFUSED_OF = frozenset({("suite", "file")})  # it names retrievers, models and code


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
        """Raise InputError for arguments that the command line would refuse to parse."""


class JobRequest(BaseModel):
    """A command to start: "repair" with its options apart, or "argus repair --only-try" as typed.

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
        expected, fix = f"one of {', '.join(STARTABLE)}", "Run other commands at a prompt."
        raise InputError(repr(command), expected=expected, fix=fix, where="command")
    declared = commands.declared(words)
    values = _by_name(request.options, declared, command)
    served = {file: name for name, file in workplace.inputs.items()}
    options: list[str] = []
    positional: list[str] = []
    writes: list[Path] = []
    for one in declared:
        value = values.get(one.name)
        if value is None:
            if one.written and one.kind == "path" and one.default:
                expected = "a folder inside those that the service was started over"
                raise InputError("not said", expected=expected, fix="Name one.", where=one.name)
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
                    raise InputError(
                        f"{file} is {kind}",
                        expected="a file that a job of this service made, or none yet",
                        fix="Name another file: what is there would be lost.",
                        where=one.name,
                    )
        if one.option:  # a value is part of its option's word, whatever it holds
            options += [f"{one.option}={text}" for text in texts]
        else:
            positional += texts
    arguments = (*options, *(("--", *positional) if positional else ()))
    if workplace.config is not None and any(one.name == CONFIG for one in declared):
        arguments = (f"--{CONFIG}={workplace.config.resolve()}", *arguments)
    commands.check(words, arguments)
    return Planned(words, arguments, tuple(dict.fromkeys(writes)))


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
            got, expected = f"{command} has no such option", f"one of {', '.join(names)}"
            raise InputError(got, expected=expected, fix="Leave it out.", where=key)
        is_named = one.kind != "text" or one.name in {*TEXTS, *OF_THE_SERVICE, *PLACES}
        if not is_named or one.name in REFUSED or (command, one.name) in REFUSED_OF:
            raise InputError(
                "is set where the service is started, never by a request",
                expected="a command without it",
                fix="Name it in the file of `argus serve --config`, or run this at a prompt.",
                where=key,
            )
        if isinstance(value, list) and not one.several:
            raise InputError("several values", expected="one", fix="Give one.", where=key)
        values[one.name] = value
    return values


def _text(one: Declared, value: Value, workplace: Workplace) -> str:
    """Return one value as it goes on the command line."""
    wrong = partial(InputError, fix="Correct it.", where=one.name)
    if one.kind == "flag":
        if not isinstance(value, bool):
            raise wrong(repr(value), expected="true or false")
        return one.option if value else one.off
    if isinstance(value, bool) or value is None:
        raise wrong(repr(value), expected="a text or a number")
    text = str(value)
    if not text or len(text) > MAX_CHARACTERS or "\0" in text:
        expected = f"from 1 to {MAX_CHARACTERS:,}, none of them null"
        raise wrong(f"a value of {len(text):,} characters", expected=expected)
    is_source = one.name == "index" or (one.name in OF_THE_SERVICE and one.kind == "text")
    is_reference = text == SERVED and (is_source or one.name == "corpus")
    if is_reference or (text.startswith(BESIDE) and is_source):
        return _resolve_reference(one, text, workplace)
    if is_source and one.name != "index":
        got = "is named where the service is started, never by a request"
        raise InputError(got, expected=SERVED, fix="Start the service with it.", where=one.name)
    return _inside(one, text, workplace) if one.kind == "path" or one.name in PLACES else text


def _resolve_reference(one: Declared, reference: str, workplace: Workplace) -> str:
    """Return the source that a reference such as "served" stands for in a command line."""
    name = workplace.named(reference, one.name)
    if name is None:
        got = f"{reference!r}, and the service was started without one"
        expected = f"--{one.name if reference == SERVED else 'beside'} of argus serve"
        raise InputError(got, expected=expected, fix="Start it with one.", where=one.name)
    if one.name != "index":
        return name
    spec = parse_index_spec(name)
    if one.written:  # only a reader may use an index outside of the folders
        return _inside(one, str(spec.path), workplace)
    return f"{spec.path.resolve()}{'' if spec.as_of is None else f'@{spec.as_of}'}"


def _inside(one: Declared, text: str, workplace: Workplace) -> str:
    """Return a path, links followed, which lies in a folder of the workplace."""
    spec = parse_index_spec(text) if one.name == "index" else None
    path, state = (Path(text), None) if spec is None else (spec.path, spec.as_of)
    try:
        real, is_inside = path.resolve(), workplace.contains(path)
    except (OSError, RuntimeError, ValueError) as error:
        got, fix = str(error), "Correct it."
        raise InputError(got, expected="a path", fix=fix, where=one.name) from error
    if not is_inside:
        raise InputError(
            f"{text!r} lies outside the folders that the service was started over",
            expected=f"a path in {', '.join(map(str, workplace.folders))}",
            fix="Start the service over that folder, too.",
            where=one.name,
        )
    if STATE in real.parts:
        got, fix = f"{text!r} is where the service keeps its own state", "Name a file or folder"
        raise InputError(got, expected="another path", fix=f"{fix} beside it.", where=one.name)
    return str(real) if state is None else f"{real}@{state}"


def may_start(line: str) -> bool:
    """Return whether a typed command is one of those that a request may start, and one alone.

    A word in capitals stands for something that a person has to fill in, such as MODEL.
    """
    words, command = _split(line)
    return bool(command) and not any(word.isalpha() and word.isupper() for word in words)


def as_request(line: str, commands: Commands) -> JobRequest:
    """Return the request of a typed command. Its options are checked as those of any request.

    Raises InputError for one that may not be started, and for an option that it has not.
    """
    words, command = _split(line)
    refuse = partial(InputError, fix="Leave it out.", where="command")
    if not command:
        expected, fix = f"argus and one of {', '.join(STARTABLE)}", "Run it at a prompt."
        raise InputError(repr(line), expected=expected, fix=fix, where="command")
    declared = commands.declared(command.split())
    flags = {word: one for one in declared if one.kind == "flag" for word in (one.option, one.off)}
    named = {one.option: one for one in declared if one.kind != "flag" and one.option}
    arguments = [one for one in declared if not one.option]
    options: dict[str, Value | list[Value]] = {}
    rest, is_after_dashes = words[1 + len(command.split()) :], False
    while rest:
        word, value = rest.pop(0), ""
        one: Declared | None = None
        if word == "--" and not is_after_dashes:
            is_after_dashes = True
            continue
        if word.startswith("--") and not is_after_dashes:
            name, equals, value = word.partition("=")
            if word in flags:
                options[flags[word].name] = word == flags[word].option
                continue
            one = named.get(name)
            if one is None or not (equals or rest):
                raise refuse(word, expected="an option of the command, with its value")
            value = value if equals else rest.pop(0)
        elif arguments:
            one, value = (arguments[0] if arguments[0].several else arguments.pop(0)), word
        else:
            raise refuse(repr(word), expected="no further argument")
        if one.several:
            earlier = options.setdefault(one.name, [])
            assert isinstance(earlier, list)
            earlier.append(value)
        else:
            options[one.name] = value
    return JobRequest(command=command, options=options)


def _split(line: str) -> tuple[list[str], str]:
    """Return the words of a line and its command, the longest, "" if it may not be started."""
    try:
        words = shlex.split(line)
    except ValueError:
        words = []
    if words[:1] == [NAME] and not {"&&", "|", ";", ">"} & set(words):
        for n in (3, 2):
            if (command := " ".join(words[1:n])) in STARTABLE:
                return words, command
    return words, ""
