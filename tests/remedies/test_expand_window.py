"""What the model reads of an expansion: document and passage share its window."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from argus.data.types import Document
from argus.remedies.config import ROBUST
from argus.remedies.expansion import make_views
from tests.support.draws import examples
from tests.support.expanding import pair

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
        assert view.text == whole or minilm.count_tokens([whole])[0] > minilm.max_tokens - 2
        assert any(
            document.startswith(view.text[:i]) and passage.startswith(view.text[i + 1 :])
            for i in range(len(view.text)) if view.text.startswith(" p", i)
        )  # fmt: skip
