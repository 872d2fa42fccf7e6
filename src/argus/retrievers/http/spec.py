"""What may stand in the description of an endpoint."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import Field, PlainValidator, field_validator

from argus.data.field_paths import FieldPath
from argus.data.provenance import content_hash
from argus.data.yaml_file import Strict, Text, problem, text_of

QUERY, QUOTED, K, VECTOR, PAGE = "{query}", "{query_json}", "{k}", "{vector}", "{page}"
"""What every request is filled with."""
PLACEHOLDER = re.compile(r"(?<!\$)\{[a-z_]+\}")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def _path(value: object) -> FieldPath:
    text = text_of(value)
    try:
        return FieldPath.parse(text)
    except ValueError as error:
        raise problem(str(error), "a path such as hits.hits[]", "Mend it.") from error


APath = Annotated[FieldPath, PlainValidator(_path)]
Json = Any  # of the endpoint's own request: any JSON


class AnswerSpec(Strict):
    """Where in an answer the results stand.

    errors: where it says what went wrong; if anything stands there, the query has failed.
    may_be_absent: an answer without the list has no results; else it has failed.
    """

    WHAT: ClassVar[str] = "answer"
    results: APath = Field(description="the path of the list, such as hits.hits[]")
    id: APath = Field(description="the path of the id in a result, such as _source.doc_id")
    score: APath | None = None
    errors: APath | None = None
    may_be_absent: bool = False


class PagingSpec(Strict):
    """How the rest of an answer is asked for, where one page holds fewer than k results."""

    WHAT: ClassVar[str] = "paging"
    next: APath = Field(description="the path of what the next request sends as {page}")
    size: int = Field(description="results of a page at most")


class EndpointSpec(Strict):
    """One request per query, and what its answer means.

    most: results that it returns at most, whatever is asked. encoder: what makes {vector} of a
    query. set: values of a preset's own placeholders.
    """

    WHAT: ClassVar[str] = "description of an endpoint"
    url: Text = Field(description="the address; it may hold {query} and ${VARIABLE}")
    answer: AnswerSpec = Field(description="where the results stand")
    method: Text = "POST"
    headers: dict[str, Text] = Field({})
    parameters: dict[str, Json] = Field({})
    body: Json = None
    paging: PagingSpec | None = None
    most: int | None = None
    encoder: Text | None = None
    preset: Text | None = None
    set: dict[str, Json] = Field({})
    at_once: int = 16
    per_minute: float | None = None
    timeout_s: float = 30.0

    @field_validator("method")
    @classmethod
    def _known(cls, method: str) -> str:
        if method not in ("GET", "POST", "PUT"):
            raise problem(repr(method), "GET, POST or PUT", "Leave it out for POST.")
        return method

    @field_validator("at_once", "most")
    @classmethod
    def _some(cls, n: int | None) -> int | None:
        if n is not None and n < 1:
            raise problem(str(n), "a whole number from 1", "Leave it out for the default.")
        return n

    @field_validator("per_minute", "timeout_s")
    @classmethod
    def _positive(cls, n: float | None) -> float | None:
        if n is not None and not 0.001 <= n < math.inf:
            raise problem(str(n), "a number from 0.001", "Leave it out for the default.")
        return n

    @property
    def request(self) -> list[Json]:
        """What may hold placeholders."""
        return [self.url, self.headers, self.parameters, self.body]

    def variables(self) -> list[str]:
        """Return the environment variables that the request names."""
        return variables_of(self.request)

    def identity(self) -> str:
        """Return a hash of all that its answers depend on, and not of how fast it is asked."""
        spec = self.resolved()
        parts = (spec.method, spec.request, spec.answer, spec.paging, spec.most, spec.encoder)
        return content_hash(repr(parts)).hex()

    def resolved(self) -> EndpointSpec:
        """Return the description with the variables' values in its request: it holds secrets."""
        names = ("url", "headers", "parameters", "body")
        return self.model_copy(update={name: with_variables(getattr(self, name)) for name in names})


def filled(template: Json, values: Mapping[str, Json]) -> Json:
    """Return a template with its placeholders filled: alone by the value, inside a text as text."""
    if isinstance(template, str):
        if template in values:
            return values[template]
        return PLACEHOLDER.sub(lambda m: str(values.get(m[0], m[0])), template)
    if isinstance(template, Mapping):
        return {str(filled(key, values)): filled(v, values) for key, v in template.items()}
    if isinstance(template, list):
        return [filled(value, values) for value in template]
    return template


def placeholders(template: Json) -> set[str]:
    """Return the placeholders of a template, such as {query}."""
    return {name for text in texts_of(template) for name in PLACEHOLDER.findall(text)}


def variables_of(template: Json) -> list[str]:
    """Return the environment variables that a template names, in order of their names."""
    return sorted({name for text in texts_of(template) for name in _VARIABLE.findall(text)})


def with_variables(template: Json) -> Json:
    """Return a template with the values of the environment variables that it names."""
    if isinstance(template, str):
        return _VARIABLE.sub(lambda match: os.environ[match[1]], template)
    if isinstance(template, Mapping):
        return {with_variables(key): with_variables(value) for key, value in template.items()}
    return [with_variables(v) for v in template] if isinstance(template, list) else template


def texts_of(value: Json) -> list[str]:
    """Return every text of a template, keys too."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return texts_of([*value, *value.values()])
    return [text for item in value for text in texts_of(item)] if isinstance(value, list) else []
