"""From a corpus to an n-gram index: what becomes of every passage, and what is refused."""

import pytest

from argus.errors import InputError
from argus.generative.index.build import build_ngrams
from argus.generative.settings import NgramBuildConfig
from tests.support.ngrams import ROWS, SIZE, write

TRAINED = NgramBuildConfig(tokenizer=f"bpe:{SIZE}")


@pytest.fixture
def corpus(tmp_path):
    return write(tmp_path / "corpus.jsonl", ROWS)


def test_a_changed_corpus_is_refused_and_fresh_replaces_it(corpus, tmp_path):
    build_ngrams(corpus, out=tmp_path / "ix", config=TRAINED)
    write(corpus, [{**row, "text": "Really."} if row["_id"] == "ada" else row for row in ROWS])
    with pytest.raises(InputError, match=r"not the one that was indexed: 1 changed \(ada\)"):
        build_ngrams(corpus, out=tmp_path / "ix", config=TRAINED)
    index = build_ngrams(corpus, out=tmp_path / "ix", config=TRAINED, fresh=True).index
    assert index.title_and_text(index.ids().index("ada"))[1] == "Really."
