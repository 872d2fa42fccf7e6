import random

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from argus.llm.model import UnusableAnswer, read_object
from argus.llm.weights import prompt_tokens
from argus.scenarios import Profiled, ProfileState, Scenario, ScenarioProfile
from argus.scenarios.config import ProfileSettings, Role
from argus.scenarios.distill import Example, build_examples, completion_of, make_example, split
from argus.scenarios.files import ProfileAnswer, from_answer
from argus.scenarios.profiles import scenario_prompt
from tests.support.distilling import DOCUMENTS, PROFILES, TEXTS
from tests.support.tiny_llama import END, NO_SYSTEM, make_tokenizer

STOPS = frozenset({1})


@pytest.fixture(scope="module")
def tokenizer():
    return make_tokenizer(TEXTS, size=900)


@pytest.mark.parametrize("options", [{}, {"template": None}, {"template": NO_SYSTEM}])
def test_answer_and_terminator_alone_are_learnt(options):
    tokenizer = make_tokenizer(TEXTS, **options)
    example = make_example(DOCUMENTS[0], PROFILES["rain"], tokenizer, STOPS)
    prompt, learnt = example.tokens[: -example.completion], example.tokens[-example.completion :]
    assert tokenizer.decode(learnt) == completion_of(PROFILES["rain"]) + END
    assert learnt[-1] == 1
    asked = scenario_prompt(DOCUMENTS[0].content, ProfileSettings(role=Role.STUDENT))
    assert list(prompt) == prompt_tokens(tokenizer, asked.system, asked.text)


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(
    lambda t: t == t.strip() and not set(t) & set("\b\f\n\r\t")
)


@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=3), texts)
def test_a_completion_reads_as_the_profile_it_comes_from(pairs, topic):
    def read(profile):
        text = completion_of(Profiled("d", ProfileState.OK, profile))
        return from_answer("d", read_object(text, ProfileAnswer)).profile

    try:
        profile = read(ScenarioProfile(topic, (topic,), tuple(Scenario(*pair) for pair in pairs)))
    except UnusableAnswer:
        reject()  # all its scenarios repeat themselves
    assert read(profile) == profile


def test_examples_that_are_too_long_are_left_out_and_counted(tokenizer):
    whole = build_examples(DOCUMENTS, PROFILES, tokenizer, STOPS)
    lengths = sorted(len(e.tokens) for e in (*whole.train, *whole.validation))
    made = build_examples(DOCUMENTS, PROFILES, tokenizer, STOPS, max_length=lengths[-1] - 1)
    kept = sum(n < lengths[-1] for n in lengths)
    assert 0 < kept < len(lengths)
    assert made.counts["too_long"] == len(lengths) - kept
    assert len((*made.train, *made.validation)) == kept


@given(st.sets(st.text(max_size=5), max_size=30), st.floats(0.01, 0.99), st.randoms())
def test_the_split_is_whole_disjoint_and_the_same_in_any_order(ids, share, rng: random.Random):
    examples = [Example(i, (1, 2), 1) for i in sorted(ids)]
    train, validation = split(examples, share)
    assert sorted(e.doc_id for e in (*train, *validation)) == sorted(ids)
    if len(ids) > 1:
        assert train and validation
    rng.shuffle(examples)
    assert {e.doc_id for e in split(examples, share)[1]} == {e.doc_id for e in validation}
