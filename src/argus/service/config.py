"""What can be set of the service."""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated

from argus.corpora import CorpusName, NamedCorpus
from argus.data.fields import FieldNames, ParentField
from argus.errors import InputError
from argus.settings import Doc, Ge, Gt, Le, Option, check_settings

LISTENING = "Listening"
"""Heading of the options that say where it listens."""
LIMITS = "Limits"
"""Heading of the options that bound a request."""
WATCHING = "Logs and traces"
"""Heading of the options that say what is kept of requests."""


@dataclass(frozen=True, kw_only=True)
class Searched:
    """What is searched, where it is no retriever; without any, the first index in the folders."""

    index: Annotated[str | None, Doc("Index to search: PATH or PATH@STATE.")] = None
    store: Annotated[
        str | None, Doc("Store to search in place: KIND:PLACE/COLLECTION, with --encoder.")
    ] = None
    encoder: Annotated[str | None, Doc("Encoder of the questions of a store.")] = None
    corpus: Annotated[
        NamedCorpus | None,
        Doc(
            "The documents that a retriever or store brings back, for their texts; with "
            "--parent-field it tells the document of each chunk."
        ),
        CorpusName(),
    ] = None
    fields: FieldNames = field(default_factory=FieldNames)
    parent_field: ParentField = None
    beside: Annotated[
        tuple[str, ...],
        Doc("Further index, retriever or store that the page Compare can ask; repeatable."),
        Option(("--beside",), repeated=True),
    ] = ()


@dataclass(frozen=True, kw_only=True)
class ServeConfig:
    """Where the service listens, and what a request may cost."""

    host: Annotated[
        str,
        Doc("Address to listen on. Beyond loopback every request needs a token."),
        Option(panel=LISTENING),
    ] = "127.0.0.1"
    port: Annotated[
        int, Ge(0), Le(65535), Doc("Port; 0 takes a free one."), Option(panel=LISTENING)
    ] = 8765
    host_names: Annotated[
        tuple[str, ...],
        Doc("Further names by which it may be called, such as that of a proxy."),
        Option(("--host-name",), panel=LISTENING, repeated=True),
    ] = ()
    no_token: Annotated[
        bool,
        Doc("Want no token though ARGUS_SERVE_TOKEN is set; on loopback alone."),
        Option(panel=LISTENING),
    ] = False
    per_minute: Annotated[
        int,
        Ge(1),
        Doc("Requests that one address may send in a minute."),
        Option(("--requests-per-minute",), panel=LIMITS),
    ] = 60_000
    max_body_mb: Annotated[
        float, Gt(0), Doc("Size of a request at most, in megabytes."), Option(panel=LIMITS)
    ] = 10.0
    max_rows: Annotated[
        int, Ge(1), Doc("Records, or questions, in one request at most."), Option(panel=LIMITS)
    ] = 10_000
    timeout_s: Annotated[
        float,
        Gt(0),
        Doc("Seconds until a request is answered or given up."),
        Option(("--request-timeout",), panel=LIMITS),
    ] = 60.0
    max_connections: Annotated[
        int, Ge(8), Doc("Connections at a time; who comes beyond waits."), Option(panel=LIMITS)
    ] = 4096
    idle_s: Annotated[
        int,
        Ge(1),
        Doc("Seconds until a connection is closed that is idle, or takes nothing of its answer."),
        Option(panel=LIMITS),
    ] = 10
    jobs_at_once: Annotated[
        int, Ge(1), Doc("Jobs that run at the same time."), Option(panel=LIMITS)
    ] = 2
    log_texts: Annotated[
        bool,
        Doc("Keep texts of questions and documents in the log."),
        Option(panel=WATCHING),
    ] = False
    spans: Annotated[
        Path | None,
        Doc("File that spans of all retrievals are added to; `argus traffic` reads it."),
        Option(panel=WATCHING),
    ] = None

    def __post_init__(self) -> None:
        check_settings(self)
        if self.no_token and self.needs_token:
            raise InputError(
                f"no token, and {self.host} can be reached from other machines",
                expected="a token beyond loopback",
                fix="Leave --no-token out, or listen on 127.0.0.1.",
                where="--no-token",
            )

    @property
    def needs_token(self) -> bool:
        """Whether it listens beyond this machine."""
        try:
            return not ip_address(self.host).is_loopback
        except ValueError:
            return self.host != "localhost"
