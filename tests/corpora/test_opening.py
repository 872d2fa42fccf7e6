"""What a program gives as a corpus, and how much of it."""

import json

import pytest

from argus.corpora.opening import open_corpus, read_corpus
from argus.data.documents import read_queries, read_topics
from argus.data.types import Document
from argus.errors import InputError

DOCUMENTS = [Document(i, f"text {i}") for i in "abc"]


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_that_leaves_none_or_counts_from_the_end_is_refused(tmp_path, limit):
    file = tmp_path / "corpus.jsonl"
    file.write_text("".join(json.dumps({"_id": i, "text": f"text {i}"}) + "\n" for i in "abc"))
    for read in (
        lambda: open_corpus(DOCUMENTS, limit=limit),
        lambda: read_queries(file, limit=limit),
        lambda: read_topics(file, limit=limit),
    ):
        with pytest.raises(InputError, match=rf"limit={limit}; expected a whole number from 1"):
            read()
    assert [len(read_corpus(each, limit=2)) for each in (DOCUMENTS, file)] == [2, 2]
