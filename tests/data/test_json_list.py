"""A JSON list item by item: what is whole is given, wherever the file breaks off."""

from __future__ import annotations

import gzip
import json
import tempfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.data.json_list import JsonList
from argus.errors import InputError
from tests.support.draws import examples

TEXTS = st.text(st.sampled_from('ab"\\[]{},: \n\té中\u2028'), max_size=8)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | TEXTS
VALUES = st.recursive(
    SCALARS, lambda v: st.lists(v, max_size=3) | st.dictionaries(TEXTS, v, max_size=3), max_leaves=8
)
BLOCKS = st.sampled_from([1, 2, 3, 7, 64, 1 << 20])


def read(content: bytes, *, block: int = 1 << 20, longest: int = 1 << 20):
    """Return the items of a file of this content, and where it is broken."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        items = JsonList(file.name, block=block, longest=longest)
        return list(items), items.broken


def whole_before(content: bytes, ends: list[int], scalars: list[bool], cut: int) -> int:
    """Count the items that end before `cut`; of a number, the end is seen one byte later."""
    return sum(end + bare <= cut for end, bare in zip(ends, scalars, strict=True))


def written(values: list, indent: int | None, escape: bool) -> tuple[bytes, list[int]]:
    """Return a list as json.dumps writes it, and where each item ends."""
    text = json.dumps(values, indent=indent, ensure_ascii=escape)
    decoder, at, ends = json.JSONDecoder(), 1, []
    for _ in values:
        while text[at] in ", \n":
            at += 1
        _, at = decoder.raw_decode(text, at)
        ends.append(len(text[:at].encode()))
    return text.encode(), ends


@settings(deadline=None, max_examples=examples(10))
@given(st.lists(VALUES, max_size=4), st.sampled_from([None, 0, 2]), st.booleans(), BLOCKS)
def test_what_is_whole_before_a_cut_is_as_json_reads_it(values, indent, escape, block):
    content, ends = written(values, indent, escape)
    scalars = [not isinstance(value, (str, list, dict)) for value in values]
    for cut in range(1, len(content) + 1):
        items, broken = read(content[:cut], block=block)
        n = whole_before(content, ends, scalars, cut)
        assert [repr(json.loads(item.content)) for item in items] == list(map(repr, values[:n]))
        assert (broken is None) == (cut == len(content))
        assert [item.number for item in items] == list(range(n))
        for item, end in zip(items, ends[:n], strict=True):
            assert content[item.begin : end] == item.content


@pytest.mark.parametrize(
    ("content", "n", "broken"),
    [
        ('[{"a": 1}', 1, "the file ends before item [1] or the end of the list"),
        ('[{"a": 1}, {"b"', 1, "the file ends inside item [1], which begins at byte 11"),
        ("[{},]", 1, "before item [1], at byte 4, ']' stands where an item should be"),
        ("[,{}]", 0, "before item [0], at byte 1, ',{}]' stands where an item should be"),
        ("[{}}]", 1, "after the end of the list, at byte 4, there is more: ']'"),
        ("[{}] [{}]", 1, "after the end of the list, at byte 5, there is more: '[{}]'"),
        ("[", 0, "the file ends before item [0]"),
        ('{"a": 1}\n{"b', 1, "the file ends inside item [1], which begins at byte 9"),
        ('{"a": ', 0, "the file ends inside item [0], which begins at byte 0"),
        ('[{"a": 1}, {"b: 2}, ' + '{"c": 3}, ' * 1000 + "]", 1,
         "item [1], which begins at byte 11, does not end within 1,000 bytes: a quotation"),
        ('{"a": 1}\n{"b' + "x" * 5000, 1, "item [1], which begins at byte 9, does not end"),
    ],
)  # fmt: skip
def test_a_break_is_named_with_its_item_and_byte(content, n, broken):
    items, problem = read(content.encode(), block=100, longest=1000)
    assert len(items) == n
    assert problem is not None and problem.startswith(broken)


@pytest.mark.parametrize(
    ("content", "got"),
    [
        (b"", "nothing in it"),
        (b" \n", "nothing in it"),
        (b'{\n  "a": 1\n}\n', "a JSON object over several lines"),
        (b"query Q0 doc 1 2.5 tag\n", "begins with 'query Q0 doc 1 2.5 tag'"),
        (b'"text"', "begins with '\"text\"'"),
        (b"\x1f\x8bnothing", "the gzip data are"),
        (gzip.compress(b"", mtime=0), "nothing in it"),
        (gzip.compress(b"text", mtime=0), "begins with 'text'"),
    ],
)
def test_a_file_that_is_no_list_is_refused_at_once(tmp_path, content, got):
    path = tmp_path / "r.json"
    path.write_bytes(content)
    with pytest.raises(InputError) as raised:
        JsonList(path)
    assert raised.value.got.startswith(got)
    for other in (tmp_path, tmp_path / "none"):
        with pytest.raises(InputError, match="expected a JSON list"):
            JsonList(other)
