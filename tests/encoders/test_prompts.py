import logging

import numpy as np
import pytest

from argus.encoders import EncoderConfig, load_encoder
from argus.encoders.prompts import Prompt, resolve_prompts
from argus.errors import InputError
from tests.support.sentence_models import make_model

OWN = {"query": "", "document": "", "passage": "passage: ", "search_query": "find: "}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("models") / "tiny", prompts=OWN)


def load(folder, **settings):
    config = EncoderConfig(model=str(folder), precision="float32", device="cpu", **settings)
    return load_encoder(config).encoder


def test_usual_names_are_understood():
    prompts = resolve_prompts(OWN)
    assert prompts.query == Prompt("find: ", "search_query")
    assert prompts.document == Prompt("passage: ", "passage")
    assert not prompts.unused


def test_a_prompt_is_named_or_written():
    prompts = resolve_prompts(OWN, query="passage", document="About bread: ")
    assert prompts.query == Prompt("passage: ", "passage")
    assert prompts.document == Prompt("About bread: ", "")
    assert resolve_prompts(OWN, query="").query == Prompt()


@pytest.mark.parametrize("own", [OWN, {}])
@pytest.mark.parametrize("option", ["query", "document"])
def test_a_word_that_is_no_name_is_refused(own, option):
    with pytest.raises(InputError) as error:
        resolve_prompts(own, **{option: "pasage"})
    assert error.value.where == f"--{option}-prompt"
    assert ("'passage'" in str(error.value)) == bool(own)


def test_prompts_that_are_not_used_are_told():
    prompts = resolve_prompts({"classification": "Classify: ", "query": ""})
    (note,) = prompts.notes("m")
    assert "'classification'" in note and "--query-prompt" in note
    assert not list(resolve_prompts({"query": "", "document": None}).notes("m"))


def test_a_model_is_read_with_the_prompts_that_were_given(folder):
    own, bare = load(folder), load(folder, query_prompt="", document_prompt="")
    given = load(folder, query_prompt="passage", document_prompt="x: ")
    vectors = bare.encode_documents(["find: sea", "passage: sea", "x: sea"])
    np.testing.assert_allclose(own.encode_queries(["sea"])[0], vectors[0], atol=1e-6)
    np.testing.assert_allclose(own.encode_documents(["sea"])[0], vectors[1], atol=1e-6)
    np.testing.assert_allclose(given.encode_queries(["sea"])[0], vectors[1], atol=1e-6)
    np.testing.assert_allclose(given.encode_documents(["sea"])[0], vectors[2], atol=1e-6)
    assert len({own.fingerprint, bare.fingerprint, given.fingerprint}) == 3
    assert given.fingerprint.endswith("query_prompt='passage: ' document_prompt='x: '")


def test_prompts_of_a_model_are_told_once(folder, caplog):
    with caplog.at_level(logging.WARNING, "argus"):
        load(folder, query_prompt="sea: "), load(folder, query_prompt="sea: ")
    told = [record.message for record in caplog.records]
    assert sum("'sea: '" in note for note in told) == 1
    assert all(note.startswith(str(folder)) for note in told)
