"""Windows of title and sentence, of texts of every kind."""

from argus.data.types import Document
from argus.remedies.blend_parts import MAX_SENTENCE_CHARS, sentence_views, split_document


def texts(document):
    return [view.text for view in sentence_views([document], "r", 100)[0]]


def test_every_sentence_stands_with_its_title_in_every_script():
    document = Document("d", "Deque Fast at both ends. It has a length limit.", "Deque")
    assert texts(document) == ["Deque Fast at both ends.", "Deque It has a length limit."]
    text = "双端队列支持快速追加。它有长度限制。线程安全。"
    assert texts(Document("d", text)) == ["双端队列支持快速追加。", "它有长度限制。", "线程安全。"]


def test_tables_and_code_are_cut_at_line_ends_and_lose_no_word():
    rows = [f"row{i} | {'cell ' * 10}| {i}" for i in range(60)]
    windows = list(split_document(Document("d", "\n".join(rows))))
    assert len(windows) == 60
    assert " ".join(windows).split() == " ".join(rows).split()


def test_a_line_without_end_is_cut_between_words():
    words = [f"w{i}" for i in range(2_000)]
    windows = list(split_document(Document("d", " ".join(words))))
    assert max(map(len, windows)) <= MAX_SENTENCE_CHARS
    assert " ".join(windows).split() == words
    unbroken = list(split_document(Document("d", "x" * 2_000)))
    assert "".join(unbroken) == "x" * 2_000 and max(map(len, unbroken)) <= MAX_SENTENCE_CHARS


def test_of_ten_thousand_sentences_neighbours_are_joined():
    text = " ".join(f"Fact number {i} is here." for i in range(10_000))
    views, counts = sentence_views([Document("d", text)], "r", 100)
    assert (len(views), counts["joined"]) == (100, 1)
    assert " ".join(view.text for view in views) == text
