"""Errors: what they say, and that they say it after a pickle, too."""

import pickle
from pathlib import Path

import pytest

from argus.errors import (
    ArgusError,
    EncoderMismatch,
    EncodingError,
    EndpointRefusal,
    InputError,
    Location,
    NothingMeasured,
    NotWritten,
)
from argus.extras import MissingPackage, UnloadedLibrary
from argus.knowledge.blocks import DamagedDump
from argus.llm.model import LanguageModelError
from argus.service.searcher import TooManyQuestions

ERRORS = [
    InputError("k = 0", expected="1", fix="Give another.", where=Location(Path("a"), 3, "k")),
    InputError("k = 0", expected="1 or more", fix="Give another."),
    EncodingError("too long", retryable=False),
    EndpointRefusal("no such key"),
    NotWritten("out/a.json", OSError(28, "No space left on device")),
    NothingMeasured("document has text", "Check --text-field."),
    EncoderMismatch(Path("store"), stored="one", given="another"),
    LanguageModelError("no such model"),
    TooManyQuestions(1_000),
    DamagedDump("enwiki.xml.bz2 is damaged near byte 12"),
    MissingPackage("torch"),
    UnloadedLibrary(ImportError("libarrow.so: cannot open shared object file", name="pyarrow")),
    ArgusError("broken"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_is_the_same_after_it_was_pickled(error):
    found = pickle.loads(pickle.dumps(error))
    assert type(found) is type(error)
    assert (str(found), found.args) == (str(error), error.args)
    assert vars(found) == vars(error)
