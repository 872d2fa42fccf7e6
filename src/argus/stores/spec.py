"""Open a vector database by its name, `KIND:PLACE/COLLECTION`, with its settings and filter.

`open_store`: a name given as --store, --corpus or --retriever -> an open `Store`
(`argus.stores.protocol`) of the product's module. Passwords and keys are hidden in all output. The
filter --where is parsed here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from typing import Annotated, Any, Literal
from urllib.parse import unquote

from argus.errors import ArgusError, InputError, StoreUnreachable
from argus.extras import naming_extras
from argus.hidden import remember
from argus.settings import Doc, Option, check_settings, settings_of
from argus.stores.protocol import TEXTS, Filter, Store, StoreFacts, values_of

KINDS = ("qdrant", "chroma", "pgvector", "lancedb", "milvus", "faiss", "sqlite-vec")
EXAMPLES = (
    "qdrant:http://127.0.0.1:6333/docs, chroma:FOLDER/docs, "
    "pgvector:postgresql://USER@HOST/DATABASE/TABLE, lancedb:FOLDER/docs, milvus:FILE.db/docs, "
    "faiss:FILE.index, sqlite-vec:FILE.db/TABLE"
)
BLENDED = "blended:"  # before the store that holds the records of a blend
PANEL = "Store"
MAX_PAGES = 20  # of records, in which the type of a field's values is looked for
Where = Annotated[
    tuple[str, ...],
    Doc("FIELD=VALUE that records must hold, as the team's own filter; may be repeated."),
    Option(panel=PANEL, repeated=True),
]
# User and password, also one with a slash in it, but no port with a path behind it.
_USER = re.compile(r"//(?P<user>[^/?#\s]*|[^/\s:@]*:(?!\d+/)\S*)@")
_PARAMETER = re.compile(
    r"(?P<name>(?<![^?&\s])[\w-]*(?:password|passwd|pwd|key|token|secret))\s*=\s*(?P<value>'[^']*'|[^&\s]*)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class StoreSpec:
    """A store by its name. place: address, folder or file. collection: "" where it is one."""

    kind: str
    place: str
    collection: str

    def __str__(self) -> str:
        """Return the name without user and password."""
        return f"{self.kind}:{shown(self.place)}" + (f"/{self.collection}" * bool(self.collection))


def is_store(text: str) -> bool:
    """Return whether a text names a store: it begins with a kind and a colon."""
    return text.partition(":")[0] in KINDS and ":" in text


def parse_store(text: str) -> StoreSpec:
    """Return kind, place and collection. Raises InputError for any other text."""
    kind, colon, rest = text.partition(":")
    if kind not in KINDS or not colon or not rest:
        got, fix = f"{shown(text)!r} names no store", f"Begin with one of {', '.join(KINDS)}."
        raise InputError(got, expected=f"such as {EXAMPLES}", fix=fix, where="STORE")
    if kind == "faiss":
        return StoreSpec(kind, rest, "")
    place, slash, collection = rest.rpartition("/")
    if kind == "pgvector":  # the table may stand before the address's parameters or at its end
        head, question, parameters = rest.partition("?")
        start, slash_before, table = head.rpartition("/")
        if question and table and re.match(r"[a-z]+://[^/]*/[^/]+$", start):
            place, slash, collection = f"{start}?{parameters}", slash_before, table
    if not slash or not place or not collection:
        got, fix = f"{shown(text)!r} names no collection", "Write it after the last slash."
        raise InputError(got, expected=f"such as {EXAMPLES}", fix=fix, where="STORE")
    return StoreSpec(kind, place, collection)


def shown(place: str) -> str:
    """Return an address without user, password and keys: as a person may see it."""
    return _PARAMETER.sub(r"\g<name>=***", _USER.sub("//", place))


def secrets(place: str, key: str | None = None) -> tuple[str, ...]:
    """Return the passwords and keys of an address, and the store's key."""
    values = [m["value"].strip("'") for m in _PARAMETER.finditer(place)]
    values += [m["user"].partition(":")[2] for m in _USER.finditer(place)]
    both = {key or "", *values, *map(unquote, values)} - {""}
    return tuple(sorted(both, key=len, reverse=True))


def hide(place: str, key: str | None = None) -> tuple[str, ...]:
    """Return the secrets of an address, and hide them in all output from now on."""
    hidden = secrets(place, key)
    remember(keys=hidden, addresses=[place])
    return hidden


def scrubbed(message: str, hidden: Sequence[str]) -> str:
    """Return a message without its secrets. hidden: the secrets, longest first."""
    for secret in hidden:
        message = message.replace(secret, "***")
    return shown(message)


@contextmanager
def reported(name: str, hidden: Sequence[str] = ()) -> Iterator[None]:
    """Turn every error of a client into StoreUnreachable.

    name: of the store, without its key. hidden: secrets that its messages may not show.
    """
    try:
        yield
    except (ArgusError, ImportError):
        raise
    except Exception as error:  # clients let through whatever their transports raise
        line = next(iter(scrubbed(str(error), hidden).strip().splitlines()), "no message")[:200]
        raise StoreUnreachable(
            f"{name}: {type(error).__name__}: {line.rstrip('.')}. Check the address, the key and "
            "that the store is up."
        ) from error


def blended_store(name: str) -> str | None:
    """Return the store of `blended:STORE`, None for another name. InputError where it is none."""
    if not name.startswith(BLENDED):
        return None
    store = name.removeprefix(BLENDED)
    if not is_store(store):
        got = f"{shown(name)!r} names no store"
        expected = "blended:KIND:PLACE/COLLECTION, the collection that argus tune apply blend wrote"
        fix = "Check the name; its receipt says it, and argus tune list --store."
        raise InputError(got, expected=expected, fix=fix, where="--retriever")
    return store


def asks_store(name: str) -> bool:
    """Return whether a name is a store's, or its blend's, whose queries need an encoder."""
    return is_store(name) or blended_store(name) is not None


@dataclass(frozen=True, kw_only=True)
class StoreConfig:
    """Settings of a store that its name does not hold.

    Attributes:
        vector_field: Which of several vector fields is searched.
        id_field: The field or column that holds ids, where the store has no own ones.
        metric: By what it ranks, where neither the store nor its index says so.
        id_file: Of a FAISS index: its ids, one a line; default: INDEX.ids.
        key_env: Environment variable that holds the store's key.
    """

    vector_field: Annotated[str | None, Option(panel=PANEL)] = None
    id_field: Annotated[str | None, Option(("--store-id",), PANEL)] = None
    metric: Annotated[Literal["cosine", "dot", "l2"] | None, Option(("--store-metric",), PANEL)] = (
        None
    )
    id_file: Annotated[str | None, Option(("--store-ids",), PANEL)] = None
    key_env: Annotated[str | None, Option(("--store-key-env",), PANEL)] = None

    def __post_init__(self) -> None:
        check_settings(self)


def refuse_unread(opening: StoreConfig, where: Sequence[str] = ()) -> None:
    """Raise InputError for settings of a store, or a filter, where no store is named."""
    named = [s.where for s in settings_of(StoreConfig) if getattr(opening, s.name) is not None]
    if where:
        named.append("--where")
    if named:
        got = "is said of a store, and there is none"
        expected = "a store as --corpus or --retriever, such as qdrant:http://HOST:6333/docs"
        raise InputError(got, expected=expected, fix="Leave it out.", where=named[0])


def conditions(texts: Sequence[str]) -> dict[str, str]:
    """Return field to value of `FIELD=VALUE` each. Raises InputError for anything else."""
    pairs = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            fix = "For example --where tenant=7."
            raise InputError(f"{text!r}", expected="FIELD=VALUE", fix=fix, where="--where")
        pairs[name] = value
    return pairs


def typed(matching: Filter, store: Store, size: int) -> Filter:
    """Return a filter whose texts are of the type that the store's records have.

    The fields of a remedy's records are known, and need not be among the first records. UUIDs,
    dates and decimals stay texts: every store reads them so, and a summary can hold them. Raises
    InputError for a field that no record holds, or whose values are of another type.
    """
    examples = {key: _examples(key, store, size) for key in matching if key not in TEXTS}
    is_known = {key: isinstance(matching[key], str) and key in examples for key in matching}
    return {k: _value(k, v, examples[k]) if is_known[k] else v for k, v in matching.items()}


def _examples(key: str, store: Store, size: int) -> list[Any]:
    values: list[Any] = []
    fields: dict[str, None] = {}
    for records in islice(store.iterate(size), MAX_PAGES):
        for payload in records.payloads:
            fields |= dict.fromkeys(payload)
            values += values_of(payload, key)
        if values:
            return values
    expected = f"one of {', '.join(fields) or '(the records have no fields)'}"
    fix, where = "Check the name; a field inside another is written with a dot.", "--where"
    raise InputError(f"no record holds a field {key!r}", expected=expected, fix=fix, where=where)


def _value(key: str, text: str, examples: Sequence[Any]) -> str | int | float | bool:
    kind = type(examples[0])
    if kind is bool and text in ("true", "false"):
        return text == "true"
    if kind in (int, float):
        with suppress(ValueError):
            return int(text) if kind is int else float(text)
    if kind not in (bool, int, float):
        return text
    some = dict.fromkeys(map(repr, examples[:1000]))
    expected = f"a value as the records have them: {', '.join(some)[:200]}"
    raise InputError(f"{key}={text}", expected=expected, fix="Correct it.", where="--where")


def refuse_nothing(matching: Filter, n: int) -> InputError:
    """Return the error of a filter that shows none of n records."""
    conditions = ", ".join(f"{key}={value}" for key, value in matching.items())
    got, fix = f"{conditions} matches none of {n:,} records", "Check the values."
    return InputError(got, expected="a filter that some record passes", fix=fix, where="--where")


def check_dimension(dim: int, facts: StoreFacts, name: str) -> None:
    """Raise InputError where an encoder makes vectors of another dimension than a store holds."""
    if dim != facts.dim:
        got = f"the encoder makes {dim} dimensions, {name} holds {facts.dim}"
        expected, fix = "the model of its vectors", "Name --encoder, or another --vector-field."
        raise InputError(got, expected=expected, fix=fix, where="--encoder")


# Settings of a StoreConfig by kind. The rest a store says itself, or does not have.
TAKEN = {
    "qdrant": ("vector_field", "key_env"),
    "chroma": ("key_env",),
    "pgvector": ("vector_field", "id_field", "metric", "key_env"),
    "lancedb": ("vector_field", "id_field", "metric"),
    "milvus": ("vector_field", "key_env"),
    "faiss": ("id_file",),
    "sqlite-vec": ("vector_field",),
}


def check_store(store: str, config: StoreConfig) -> None:
    """Raise InputError, before a client is loaded, for a name that is none, and for settings."""
    _checked(store, config)


@contextmanager
def open_store(store: str | Store, config: StoreConfig | None = None) -> Iterator[Store]:
    """Open a store that is named, and close it. One that is opened stays the caller's.

    Raises InputError for a name that is none, a collection or field that is not there, a setting
    that the store does not have, and a key's variable that is not set. Raises ImportError, with the
    extra, where the store's client is not installed.
    """
    if not isinstance(store, str):
        yield store
        return
    config = config or StoreConfig()
    spec, key = _checked(store, config)
    kind, hidden = spec.kind.replace("-", "_"), hide(spec.place, key)
    with reported(str(spec), hidden), naming_extras():
        opening = getattr(import_module(f"argus.stores.{kind}"), f"open_{kind}")
        opened: Store = opening(spec, config, key, hidden)
    try:
        yield opened
    finally:
        opened.close()


def _checked(store: str, config: StoreConfig) -> tuple[StoreSpec, str | None]:
    """Return a store's name in parts, and its key, of the environment, None where it has none."""
    spec = parse_store(store)
    settings = {setting.name: setting.where for setting in settings_of(StoreConfig)}
    for name, where in settings.items():
        if getattr(config, name) is not None and name not in TAKEN[spec.kind]:
            expected = f"only {', '.join(settings[name] for name in TAKEN[spec.kind])}"
            got = f"{spec.kind} does not take it"
            raise InputError(got, expected=expected, fix="Leave it out.", where=where)
    key = os.environ.get(config.key_env) if config.key_env is not None else None
    if config.key_env is not None and not key:
        got, fix = f"{config.key_env!r} is not set", "Set it, or leave the option out."
        expected = "an environment variable that holds the key"
        raise InputError(got, expected=expected, fix=fix, where="--store-key-env")
    return spec, key
