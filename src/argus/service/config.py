"""Declare the options of `argus serve`: the searched source, its records, the address, the log.

Records tell which documents supersede which (`RecordsOptions`). `argus.service.workplace` opens the
named sources, and `argus.service.app` listens at the address.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from typing import Annotated, Any

from argus.authority.config import AuthoritySource
from argus.corpora import CorpusName, NamedCorpus
from argus.data.fields import FieldNames, ParentField
from argus.errors import InputError
from argus.service.workplace import Workplace
from argus.settings import Ge, Le, Option, Setting, check_settings, settings_of

LISTENING, WATCHING = "Listening", "Log"
"""Headings of the options."""
_LISTENING, _WATCHING = (Option(panel=one) for one in (LISTENING, WATCHING))
# Shapes of batches whose compiled code is kept. Of 350 of MiniLM's three layers 1,024 keep 0.7 GB
# more.
SHAPES = 128
# Variables that bound it. Both oneDNN and PyTorch's layer above it hold the code: one of them alone
# bounds nothing.
CACHES = ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY")


def bound_compiled_code() -> None:
    """Keep the code of fewer shapes, unless the environment says otherwise.

    Counts only before PyTorch computes for the first time.
    """
    for variable in CACHES:
        os.environ.setdefault(variable, str(SHAPES))


@dataclass(frozen=True, kw_only=True)
class Searched:
    """The searched source, if it is no retriever. The default is the first index in the folders.

    Attributes:
        index: Index to search: PATH or PATH@STATE.
        store: Store to search in place: KIND:PLACE/COLLECTION, with --encoder.
        encoder: Encoder of the questions of a store.
        corpus: The documents that a retriever or store brings back, for their texts; with
            --parent-field it tells the document of each chunk.
    """

    index: str | None = None
    store: str | None = None
    encoder: str | None = None
    corpus: Annotated[NamedCorpus | None, CorpusName()] = None
    fields: FieldNames = field(default_factory=FieldNames)
    parent_field: ParentField = None


@dataclass(frozen=True, kw_only=True)
class ServeConfig:
    """The address of the service, its jobs and its log.

    Attributes:
        host: Address to listen on. Beyond loopback every request needs a token.
        port: Port; 0 takes a free one.
        host_names: Further names by which it may be called, such as that of a proxy.
        jobs_at_once: Jobs that run at the same time.
        log_texts: Keep questions, and ids of documents, in the log, which `argus traffic` reads.
    """

    host: Annotated[str, _LISTENING] = "127.0.0.1"
    port: Annotated[int, Ge(0), Le(65535), _LISTENING] = 8765
    host_names: Annotated[
        tuple[str, ...], Option(("--host-name",), panel=LISTENING, repeated=True)
    ] = ()
    jobs_at_once: Annotated[int, Ge(1)] = 2
    log_texts: Annotated[bool, _WATCHING] = False

    def __post_init__(self) -> None:
        check_settings(self)

    @property
    def needs_token(self) -> bool:
        """Tell whether it listens beyond this machine."""
        try:
            return not ip_address(self.host).is_loopback
        except ValueError:
            return self.host != "localhost"


@dataclass(frozen=True)
class RecordsOptions:
    """Options of the records: the settings of `AuthoritySource`, all optional.

    Records of an audited folder need no name.
    """

    values: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def declared_settings(cls) -> tuple[Setting, ...]:
        """Return the settings as options."""
        return tuple(
            replace(one, default=None, optional=True) if one.name == "records" else one
            for one in settings_of(AuthoritySource)
        )

    @classmethod
    def from_options(cls, **values: Any) -> RecordsOptions:
        """Return the options that were given."""
        return cls(values)

    @property
    def source(self) -> AuthoritySource | None:
        """Source of the records that are named, None where none are."""
        return None if self.values.get("records") is None else AuthoritySource(**self.values)

    def over(self, place: Workplace) -> Workplace:
        """Return the workplace with its records looked at as of the time that was given.

        Raises InputError for options of records where there are no records.
        """
        plain = AuthoritySource(records="")  # type: ignore[arg-type]  # its defaults alone count
        more = {n: value for n, value in self.values.items() if value != getattr(plain, n, None)}
        if more.pop("records", None) is not None or not more:
            return place
        if place.authority is None:
            (name, value), *_ = more.items()
            got, where = f"{value}, and no --records", f"--{name.replace('_', '-')}"
            fix = "Name them with --records, or serve a folder that was audited with some."
            raise InputError(got, expected="the records that it is about", fix=fix, where=where)
        return replace(place, authority=replace(place.authority, **more))
