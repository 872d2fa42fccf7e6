"""What a command takes grows with what it reads, and no faster."""

import time
import tracemalloc

import numpy as np

from argus.data import Document
from argus.data.texts import holders
from argus.indexes import known_item_search
from argus.retrievability.sentences import hold_out, split_sentences

MB = 1 << 20


def seconds(work, *sizes):
    """Return how long a piece of work takes at each size, the best of three."""
    best = []
    for size in sizes:
        given = work(size)
        times = []
        for _ in range(3):
            start = time.perf_counter()
            given()
            times.append(time.perf_counter() - start)
        best.append(min(times))
    return best


def long_text(characters):
    lines = range(characters // 40)
    return " ".join(f"Number {i} is the name of this very line." for i in lines)


def test_sentences_of_a_long_document_are_held_out_within_its_size_and_a_little():
    document = Document("d", long_text(800_000), "Title")
    tracemalloc.start()
    held, _ = hold_out([document], per_document=2)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(held) == 2 and peak < 50 * MB


def test_time_grows_with_abbreviations_as_with_other_words():
    short, long = seconds(lambda n: lambda: split_sentences("J. " * n), 2_000, 16_000)
    assert long < 24 * short


def test_time_grows_with_copies_of_a_sentence_as_they_do():
    one = "The grey bear sleeps in the winter."
    short, long = seconds(lambda n: lambda: holders([one] * n, [one] * n), 500, 4_000)
    assert long < 24 * short
    assert holders([one] * 40, [one] * 40) == [list(range(40))] * 40


def test_duplicates_are_searched_as_fast_as_other_documents():
    rng = np.random.default_rng(0)

    def search(distinct):
        rows = rng.standard_normal((distinct, 256)).astype(np.float32)
        rows = np.repeat(rows, 2_000 // distinct, axis=0)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return lambda: known_item_search(rows, rows, np.arange(len(rows)), 10)

    different, same = seconds(search, 2_000, 1)
    assert same < 5 * different
