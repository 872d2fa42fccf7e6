"""Ask a search endpoint over HTTP that a YAML file describes: a new engine needs no Python.

`EndpointSpec` is the description, over a preset if it names one: the request of a query, and where
the ids stand in the answer. `HttpRetriever` sends a request per query, and tries again where that
may help. `--retriever http:FILE.yaml` opens it (`argus.retrievers.opening`).
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, ClassVar
from urllib.parse import quote

import httpx
import numpy as np
from pydantic import AfterValidator, Field, PlainValidator

from argus import http_retry
from argus.data import yaml_file
from argus.data.fields import FieldPath
from argus.data.provenance import content_hash
from argus.data.reading import read_text
from argus.data.types import Query, Run
from argus.encoders import Encoder
from argus.errors import ArgusError, EncodingError, EndpointRefusal, InputError, Location
from argus.hidden import remember, scrub, secrets_of
from argus.indexes.recipe import QueryCorrection
from argus.retrievers.protocol import AskLater, RetrievalError
from argus.retrievers.results import Known, ranked
from argus.retrievers.session import Scores, Source, in_a_thread, raised
from argus.visible import without_half_pairs

# Placeholders of every request.
QUERY, QUOTED, K, VECTOR = "{query}", "{query_json}", "{k}", "{vector}"
FILLED = (QUERY, QUOTED, K, VECTOR)
# Attempts of one request, and seconds before the second one.
ATTEMPTS, BACKOFF_S = 3, 0.5
MESSAGE_CHARS = 2 * http_retry.SHOWN_CHARS
# A shorter variable may be a word of an answer by chance.
MIN_SECRET_CHARS = 4
_PLACEHOLDER = re.compile(r"(?<!\$)\{[a-z_]+\}")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_PRESETS = files("argus.retrievers").joinpath("presets")
Json = Any  # of the endpoint's own request: any JSON


def _path(value: object) -> FieldPath:
    text = yaml_file.text_of(value)
    try:
        return FieldPath.parse(text)
    except ValueError as error:
        raise yaml_file.problem(str(error), "a path such as hits.hits[]", "Mend it.") from error


def _method(name: str) -> str:
    if name not in ("GET", "POST", "PUT"):
        raise yaml_file.problem(repr(name), "GET, POST or PUT", "Leave it out for POST.")
    return name


APath = Annotated[FieldPath, PlainValidator(_path)]
Count = Annotated[int, Field(ge=1)]


class AnswerSpec(yaml_file.Strict):
    """Place of the results in an answer.

    errors: where it reports an error. If anything is there, the query has failed.
    may_be_absent: an answer without the list has no results. Otherwise it has failed.
    """

    WHAT: ClassVar[str] = "answer"
    results: APath = Field(description="the path of the list, such as hits.hits[]")
    id: APath = Field(description="the path of the id in a result, such as _source.doc_id")
    score: APath | None = None
    errors: APath | None = None
    may_be_absent: bool = False


class EndpointSpec(yaml_file.Strict):
    """One request per query, and how to read its answer.

    most: results that it returns at most, whatever is asked. encoder: model that makes {vector} of
    a query. set: values of a preset's own placeholders.
    """

    WHAT: ClassVar[str] = "description of an endpoint"
    url: yaml_file.Text = Field(description="the address; it may hold {query} and ${VARIABLE}")
    answer: AnswerSpec = Field(description="where the results stand")
    method: Annotated[yaml_file.Text, AfterValidator(_method)] = "POST"
    headers: dict[str, yaml_file.Text] = Field({})
    parameters: dict[str, Json] = Field({})
    body: Json = None
    most: Count | None = None
    encoder: yaml_file.Text | None = None
    preset: yaml_file.Text | None = None
    set: dict[str, Json] = Field({})

    @property
    def request(self) -> list[Json]:
        """The parts that may hold placeholders."""
        return [self.url, self.headers, self.parameters, self.body]

    def variables(self) -> list[str]:
        """Return the environment variables that the request names."""
        return _variables(self.request)

    def identity(self) -> str:
        """Return a hash of all that its answers depend on, and not of how fast it is asked."""
        spec = self.resolved()
        parts = (spec.method, spec.request, spec.answer, spec.most, spec.encoder)
        return content_hash(repr(parts)).hex()

    def resolved(self) -> EndpointSpec:
        """Return the description with the variables' values, which are secret, in its request."""
        names = ("url", "headers", "parameters", "body")
        return self.model_copy(update={name: _resolve(getattr(self, name)) for name in names})


def _mapped(template: Json, change: Callable[[str], Json]) -> Json:
    """Return a template with every text changed, keys too."""
    if isinstance(template, str):
        return change(template)
    if isinstance(template, Mapping):
        return {str(change(key)): _mapped(value, change) for key, value in template.items()}
    return [_mapped(v, change) for v in template] if isinstance(template, list) else template


def _texts(template: Json) -> list[str]:
    """Return every text of a template, keys too."""
    if isinstance(template, str):
        return [template]
    if isinstance(template, Mapping):
        return _texts([*template, *template.values()])
    return [text for one in template for text in _texts(one)] if isinstance(template, list) else []


def fill(template: Json, values: Mapping[str, Json]) -> Json:
    """Fill placeholders: one that is a whole text by the value itself, another by its text."""

    def replaced(text: str) -> Json:
        if text in values:
            return values[text]
        return _PLACEHOLDER.sub(lambda match: str(values.get(match[0], match[0])), text)

    return _mapped(template, replaced)


def _placeholders(template: Json) -> set[str]:
    return {name for text in _texts(template) for name in _PLACEHOLDER.findall(text)}


def _variables(template: Json) -> list[str]:
    return sorted({name for text in _texts(template) for name in _VARIABLE.findall(text)})


def _resolve(template: Json) -> Json:
    """Fill in the values of environment variables."""
    return _mapped(template, lambda t: _VARIABLE.sub(lambda match: os.environ[match[1]], t))


def presets() -> list[str]:
    """Return the names of the descriptions that come with Argus."""
    return sorted(f.name.removesuffix(".yaml") for f in _PRESETS.iterdir())


def load_endpoint(path: Path) -> EndpointSpec:
    """Read the description in a file, over that of its preset if it names one.

    Raises InputError with file, line and place for any mistake in it, and for environment variables
    that are not set.
    """
    fix = f"Check the path. A file may be two lines: preset: {presets()[0]} and url: ..."
    text = read_text(path, "a YAML file that describes an endpoint", fix)
    spec, where = yaml_file.read_spec(EndpointSpec, text, path, partial(_over_preset, path))
    _check(spec, where)
    return spec


def _over_preset(path: Path, content: yaml_file.Value) -> yaml_file.Value:
    """Return a file's fields over those of its preset, with the values of `set` filled in."""
    if not isinstance(content, dict) or (name := content.get("preset")) is None:
        return content
    known = presets()
    if name not in known:
        got, fix = f"no preset {name!r}", yaml_file.nearest(str(name), known)
        raise InputError(got, expected=f"one of {', '.join(known)}", fix=fix, where=path)
    text = _PRESETS.joinpath(f"{name}.yaml").read_text(encoding="utf-8")
    preset = yaml_file.YamlFile(Path(f"{name}.yaml"), text).value
    assert isinstance(preset, dict)
    words: dict[str, yaml_file.Value] = {}
    for own in (preset.get("set"), content.get("set")):
        words |= own if isinstance(own, dict) else {}
    values = {f"{{{word}}}": value for word, value in words.items() if value is not None}
    merged = {key: fill(value, values) for key, value in {**preset, **content}.items()}
    return merged | {"set": words}


def _check(spec: EndpointSpec, where: yaml_file.YamlFile) -> None:
    """Raise InputError for placeholders that are unknown, missing or misplaced, and for variables.

    A variable has to have a value that fits the header or address. No value is shown. A query must
    not choose the host, so that holds no placeholder.
    """

    def refuse(got: str, expected: str, fix: str, *place: str) -> None:
        raise where.error(place, got, expected, fix)

    names = _placeholders(spec.request)
    if unknown := sorted(names - set(FILLED)):
        word, expected = unknown[0].strip("{}"), f"a value for each of {', '.join(unknown)}"
        fix = f"Write it under set: {word}: ..." if spec.preset else "Remove the braces."
        refuse(f"nothing for {unknown[0]}", expected, fix, *(["set"] if word in spec.set else []))
    in_header = min(_placeholders(spec.headers), default="")
    if not names & {QUERY, QUOTED, VECTOR}:
        expected = f"{QUERY} or {VECTOR} in url, parameters or body"
        refuse("a request without a query", expected, f'Write "{QUERY}" where the query belongs.')
    if VECTOR in names and spec.encoder is None:
        expected = "the model that makes vectors of queries"
        refuse(f"{VECTOR} without an encoder", expected, "Add encoder: NAME.")
    if in_header:
        expected = "it in url, parameters or body"
        refuse(f"{in_header} in a header", expected, "Move it there.", "headers")
    if missing := [name for name in spec.variables() if not os.environ.get(name)]:
        got = f"the environment variable {missing[0]} is not set"
        expected = "a value for each variable that the request names"
        refuse(got, expected, f"Set it: export {missing[0]}=...")
    for header, text in spec.headers.items():
        if not http_retry.fits_header(_resolve(text)) or not http_retry.fits_header(header):
            variables = ", ".join(_variables(text))
            got = f"{header!r} holds characters that no HTTP header can, or has spaces around it"
            fix = f"Check what {variables} holds." if variables else "Mend it."
            refuse(got, "printable ASCII", fix, "headers")
    host = re.split("[/?#]", spec.url.partition("://")[2], maxsplit=1)[0]
    address = fill(_resolve(spec.url), dict.fromkeys(FILLED, "1"))
    if not http_retry.is_address(address) or _placeholders(host):
        variables = ", ".join(_variables(spec.url))
        got = repr(spec.url.rpartition("@")[2].partition("?")[0])
        expected = "an address such as http://127.0.0.1:9200/docs/_search"
        fix = f"Give scheme and host, without braces; a port is at most {http_retry.HIGHEST_PORT}."
        fix += f" Check what {variables} holds." if variables else ""
        refuse(got, expected, fix, "url")


@dataclass
class HttpRetriever(Source):
    """An endpoint. A refusal of one query fails that query. A refusal of all stops the job.

    encoder: makes {vector} of a query. correction: changes it before it is sent.
    """

    spec: EndpointSpec
    name: str
    known: Known = field(default_factory=Known, repr=False)
    encoder: Encoder | None = None
    correction: QueryCorrection | None = None
    _client: httpx.AsyncClient | None = field(default=None, repr=False)
    _encoding: threading.Lock = field(default_factory=threading.Lock, repr=False)
    # The resolved description, since the first session.
    _request: EndpointSpec | None = field(default=None, repr=False)

    @property
    def fingerprint(self) -> str | None:
        """Fingerprint of the encoder of its queries."""
        return self.encoder.fingerprint if self.encoder is not None else None

    @asynccontextmanager
    async def session(self) -> AsyncIterator[None]:
        """Hold the connections of one job. Redirects are not followed but reported."""
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=64)
        request = self._request = self.spec.resolved()
        named = request.headers.items()
        sent = next((v for name, v in named if name.lower() == "authorization"), "")
        http_retry.check_one_credential(request.url, sent, where=self.name)
        remember(keys=self._secrets(), addresses=[request.url])
        headers, timeout = http_retry.ACCEPTED | request.headers, httpx.Timeout(None, connect=10)
        async with httpx.AsyncClient(headers=headers, timeout=timeout, limits=limits) as client:
            self._client = client
            yield

    async def answer(self, queries: Sequence[Query], k: int) -> Run:
        """Return documents with decreasing scores per query. See `Source`.

        No message holds the value of a variable: the text of every exception is scrubbed here.
        """
        try:
            return {query.id: await self._answer(query.text, k) for query in queries}
        except ArgusError as error:
            raise ArgusError(self._scrubbed(str(error))) from None
        except AskLater as error:
            raise AskLater(self._scrubbed(str(error))[:MESSAGE_CHARS], error.wait_s) from None
        except RetrievalError as error:
            raise RetrievalError(self._scrubbed(str(error))[:MESSAGE_CHARS]) from None
        except Exception as error:  # whatever a strange answer leads to
            raise RetrievalError(self._scrubbed(raised(error))[:MESSAGE_CHARS]) from None

    async def _answer(self, text: str, k: int) -> Scores:
        wanted = min(k, self.spec.most or k)
        text = without_half_pairs(text)
        quoted = json.dumps(text, ensure_ascii=False)
        values: dict[str, Any] = {QUERY: text, QUOTED: quoted, K: wanted}
        if self.encoder is not None:
            try:
                values[VECTOR] = await in_a_thread(partial(self._vector, self.encoder, text))
            except EndpointRefusal:
                raise
            except EncodingError as error:  # the query's failure, no end of the job
                raise RetrievalError(str(error)) from error
        return ranked(self._hits(await self._send(values)), k, self.known)

    def _vector(self, encoder: Encoder, text: str) -> list[float]:
        with self._encoding:
            vectors = np.asarray(encoder.encode_queries([text]), np.float32)
        if self.correction is not None:
            vectors = self.correction.apply(vectors)
        return [float(x) for x in vectors[0]]

    def _hits(self, content: Mapping[str, Any]) -> list[str | tuple[str, float]]:
        """Return the ids of an answer, with scores where it has them."""
        answer = self.spec.answer
        if answer.errors and (errors := self._values(answer.errors, content)):
            raise RetrievalError(f"answered with an error: {_shown(errors[0])}")
        if not answer.results.is_in(content) and not answer.may_be_absent:
            raise RetrievalError(f"answered without {answer.results.text!r}: {_shown(content)}")
        hits: list[str | tuple[str, float]] = []
        for item in self._values(answer.results, content):
            value = self._one(answer.id, item)
            if value is None:
                raise RetrievalError(f"answered with a result without {answer.id.text!r}")
            if not (isinstance(value, str) and value) and type(value) is not int:
                problem = f"the id {_shown(value)}, neither text nor a whole number"
                raise RetrievalError(f"answered with {problem}")
            id_ = str(value)
            score = self._one(answer.score, item) if answer.score else None
            try:  # some servers write it as text
                hits.append(id_ if score is None else (id_, float(score)))
            except (TypeError, ValueError, OverflowError) as error:
                raise RetrievalError(f"answered with the score {score!r}") from error
        return hits

    async def _send(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """Send one request, again where that may help. Return the object of the answer."""
        tries = http_retry.Tries(ATTEMPTS, BACKOFF_S)
        attempt = partial(self._attempt, values)
        result: bytes | http_retry.Refusal | None = await http_retry.persist(attempt, tries)
        if result is None:
            raise RetrievalError(str(tries))
        if isinstance(result, http_retry.Refusal):
            refusal = f"{self.name} refused with {result}"
            if result.for_all:
                raise ArgusError(
                    f"{refusal}. Check address, method and headers. What was answered so far is "
                    "kept: the same command asks only the rest."
                )
            raise RetrievalError(refusal)
        try:
            content = json.loads(result)
        except (ValueError, RecursionError) as error:
            shown = self._scrubbed(result.decode("utf-8", "replace"))[:60]
            raise RetrievalError(f"answered with no JSON: {shown!r}") from error
        if isinstance(content, list):
            return {"$": content}
        if not isinstance(content, dict):
            raise RetrievalError(f"answered with {type(content).__name__}, not an object")
        return content

    async def _attempt(
        self, values: Mapping[str, Any]
    ) -> bytes | http_retry.Refusal | http_retry.Trouble:
        assert self._client is not None and self._request, "asked outside of a session"
        request = self._request
        url = fill(request.url, {name: quote(str(v), safe="") for name, v in values.items()})
        parameters = without_none(fill(request.parameters, values))
        body = without_none(fill(request.body, values))
        sent: dict[str, Any] = {"params": parameters or None, "json": request.body and body}
        try:
            async with self._client.stream(request.method, url, **sent) as response:
                content, is_whole = await http_retry.read_body(response, http_retry.MOST_BYTES)
        except httpx.RequestError as error:
            return http_retry.Trouble(f"{type(error).__name__}: {error}")
        except (httpx.InvalidURL, ValueError) as error:  # such as one that is too long
            raise RetrievalError(f"cannot be asked: {error}") from error
        if not is_whole:
            raise RetrievalError(f"answered with more than {http_retry.MOST_BYTES:,} bytes")
        if response.is_redirect:
            to = str(response.url.join(response.headers.get("location", "")))
            to = f"a redirect to {http_retry.without_secrets(to)}"
            return http_retry.Refusal(response.status_code, to, for_all=True)
        if not http_retry.is_answer(response):
            text = self._scrubbed(content.decode("utf-8", "replace"))[: http_retry.SHOWN_CHARS]
            wait = response.headers.get("retry-after")
            result = http_retry.meaning(response.status_code, text, wait)
            if isinstance(result, http_retry.Trouble) and result.wait_s:
                raise AskLater(result.problem, result.wait_s)
            return result
        return content

    def _one(self, path: FieldPath, item: Any) -> Any:
        values = self._values(path, item)
        return values[0] if values else None

    def _values(self, path: FieldPath, item: Any) -> list[Any]:
        try:
            return list(path.find(item, lambda at: Location(Path("answer"), field=at)))
        except (InputError, AttributeError, TypeError) as error:
            reason = str(error)
            if isinstance(error, InputError):
                reason = f"{error.got} at {error.where}"
            raise RetrievalError(f"answered in another shape: {reason}") from error

    def _scrubbed(self, text: str) -> str:
        """Hide secrets that a server repeats."""
        return scrub(text, self._secrets(), MIN_SECRET_CHARS)

    def _secrets(self) -> frozenset[str]:
        """Return the values of all variables, and the password of the address."""
        variables = {os.environ.get(name, "") for name in self.spec.variables()}
        address = (self._request or self.spec).url
        return frozenset((variables | secrets_of(address)) - {""})


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def without_none(value: Any) -> Any:
    """Leave out keys that have no value, such as an optional part of a preset."""
    if isinstance(value, Mapping):
        return {k: without_none(v) for k, v in value.items() if v is not None}
    return [without_none(v) for v in value] if isinstance(value, list) else value
