"""Prompts where nobody says them."""

import pytest

from argus.encoders.config import resolve_prompts
from argus.errors import InputError

OWN = {"query": "", "document": "", "passage": "passage: ", "search_query": "find: "}


def test_usual_names_are_understood():
    prompts = resolve_prompts(OWN)
    assert prompts.query == "find: "
    assert prompts.document == "passage: "


@pytest.mark.parametrize("own", [OWN, {}])
@pytest.mark.parametrize("option", ["query", "document"])
def test_a_word_that_is_no_name_is_refused(own, option):
    with pytest.raises(InputError) as error:
        resolve_prompts(own, **{option: "pasage"})
    assert error.value.where == f"--{option}-prompt"
    assert ("'passage'" in str(error.value)) == bool(own)
