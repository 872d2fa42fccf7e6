"""What the model reads of an expansion: document and passage share its window."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from argus.data.types import Document
from argus.remedies.config import ROBUST
from argus.remedies.expansion import make_views
from tests.support.draws import examples
from tests.support.expanding import AARE, pair


def read(encoder, text):
    """Return the characters of `text` that the encoder's tokenizer keeps."""
    prompt = encoder.prompts.document.text
    offsets = encoder.model.tokenizer(
        prompt + text, truncation=True, max_length=encoder.max_tokens, return_offsets_mapping=True
    )["offset_mapping"]
    return text[: max(end for _, end in offsets) - len(prompt)]


DENSE = " ".join(str(7919 * i) for i in range(300))
SPARSE = "the same old words again and again " * 100
HAN = "漢字" * 400


@pytest.mark.parametrize(
    "text",
    [f"Aare {DENSE} {SPARSE}", f"Aare {SPARSE} {DENSE}", f"Aare {HAN} {SPARSE}",
     f"Aare {'ab-' * 3000}", f"Aare {SPARSE}", f"Aare {DENSE}", f"Aare {HAN}"],
    ids=["dense-sparse", "sparse-dense", "han-sparse", "one-word", "sparse", "dense", "han"],
)  # fmt: skip
def test_the_model_reads_the_whole_passage(minilm, text):
    """Tokens may lie much denser in one part of a document than in another."""
    document = Document("d", text)
    [view] = make_views([pair(document, "Aare", AARE)], ROBUST, minilm, remedy="r")
    passage = f" {AARE.content}"
    assert view.text.endswith(passage) and read(minilm, view.text) == view.text
    assert text.startswith(view.text.removesuffix(passage))
    assert minilm.count_tokens([view.text])[0] > minilm.max_tokens / 2, "and of the document, too"


def test_a_long_passage_is_cut_to_half_the_window(minilm):
    long = Document("l", f"Aare {DENSE} {SPARSE}")
    passage = Document("p", f"It flows. {SPARSE} {DENSE}", "Aare")
    [view] = make_views([pair(long, "Aare", passage)], ROBUST, minilm, remedy="r")
    assert read(minilm, view.text) == view.text
    begin = view.text.index("Aare It flows.")
    assert long.content.startswith(view.text[: begin - 1])
    assert passage.content.startswith(view.text[begin:])
    shares = minilm.count_tokens([view.text[:begin], view.text[begin:]])
    assert shares.min() > 0.3 * minilm.max_tokens


WORDS = st.lists(
    st.sampled_from(
        ["river", "antidisestablishmentarianism", "漢字漢字", "2,718.28", "a", "—", "\n"]
    ),
    max_size=300,
)


@settings(
    max_examples=examples(40),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=3))
def test_every_view_fits_the_window(minilm, texts):
    pairs = [
        pair(Document("d", " ".join(["Aare", *d])), "Aare", Document("p", " ".join(["p", *p])))
        for d, p in texts
    ]
    made = make_views(pairs, ROBUST, minilm, remedy="r")
    assert (minilm.count_tokens([view.text for view in made]) <= minilm.max_tokens).all()
    for one, view in zip(pairs, made, strict=True):
        document, passage = one.document.content, one.passage.document.content
        whole = f"{document} {passage}"
        fits = minilm.count_tokens([whole])[0] <= minilm.max_tokens - 2
        assert view.text == whole or not fits
        places = [i for i in range(len(view.text)) if view.text.startswith(" p", i)]
        assert any(
            document.startswith(view.text[:i]) and passage.startswith(view.text[i + 1 :])
            for i in places
        )
