"""A JSON list item by item: what is whole is given, wherever the file breaks off."""

from __future__ import annotations

import gzip
import json
import random
import tempfile
import time

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
RECORDS = st.dictionaries(TEXTS, VALUES, max_size=3)
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


@settings(deadline=None, max_examples=examples(25))
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


@settings(deadline=None, max_examples=examples(15))
@given(st.lists(RECORDS, min_size=1, max_size=4), st.sampled_from(["\n", "\r\n", "\n\n"]), BLOCKS)
def test_lines_are_given_as_far_as_they_are_whole(values, end, block):
    lines = [json.dumps(value).encode() for value in values]
    content = end.encode().join(lines)
    for cut in range(1, len(content) + 1):
        items, broken = read(content[:cut], block=block)
        stops = [len(end.encode().join(lines[: i + 1])) for i in range(len(lines))]
        whole = [value for value, stop in zip(values, stops, strict=True) if stop <= cut]
        assert [repr(json.loads(item.content)) for item in items] == list(map(repr, whole))
        between = cut in stops or content[:cut].endswith((b"\n", b"\r"))
        assert (broken is None) == between
        for item in items:
            assert content[item.begin :].startswith(item.content)


@settings(deadline=None, max_examples=examples(20))
@given(st.lists(RECORDS, min_size=1, max_size=5), st.booleans(), BLOCKS)
def test_gzipped_lists_are_read_as_plain_ones_up_to_a_cut(values, in_two, block):
    text = json.dumps(values).encode()
    parts = [text[:5], text[5:]] if in_two else [text]
    packed = b"".join(map(gzip.compress, parts))
    plain = read(text, block=block)
    assert read(packed, block=block) == plain
    assert read(packed + b"\0" * 7, block=block) == plain
    for lost in range(1, 9):  # of the check sum at the end: every item is there
        items, broken = read(packed[:-lost], block=block)
        assert items == plain[0]
        assert broken is not None
        assert broken.startswith("the gzip data are cut off before item")


def test_a_gzipped_file_cut_off_gives_what_can_be_unpacked():
    values = [{"number": i, "text": f"{i * i:x}" * 20} for i in range(2000)]
    packed = gzip.compress(json.dumps(values).encode())
    items, broken = read(packed[: len(packed) // 2], block=1000)
    assert 500 < len(items) < 1500
    assert [json.loads(item.content) for item in items] == values[: len(items)]
    assert broken is not None
    assert f"the gzip data are cut off inside item [{len(items)}], which begins at" in broken


def test_a_damaged_gzipped_file_gives_what_precedes_the_damage():
    values = [{"number": i, "text": f"{i * i:x}" * 20} for i in range(2000)]
    packed = bytearray(gzip.compress(json.dumps(values).encode()))
    packed[-8] ^= 1  # the check sum
    items, broken = read(bytes(packed))
    assert [json.loads(item.content) for item in items] == values
    assert broken is not None
    assert "the gzip data are damaged" in broken
    packed[len(packed) // 2] ^= 0xFF
    items, broken = read(bytes(packed))
    assert len(items) > 500
    assert broken is not None


def test_text_after_a_gzip_member_is_damage():
    items, broken = read(gzip.compress(b'[{"a": 1}]') + b"more")
    assert len(items) == 1
    assert broken is not None
    assert "the gzip data are damaged" in broken


def test_a_long_gzipped_item_is_read_in_linear_time(tmp_path):
    # Stored, as noise is: gzip gives it 64 KiB at a time, so that its parts are many.
    def seconds(megabytes: int) -> float:
        text = random.Random(megabytes).randbytes(megabytes * 500_000).hex().encode()
        path = tmp_path / f"{megabytes}.json.gz"
        path.write_bytes(gzip.compress(b'["' + text + b'"]', compresslevel=0))
        begin = time.process_time()
        (item,) = JsonList(path)
        taken = time.process_time() - begin
        assert item.content == b'"' + text + b'"'
        return taken

    seconds(1)  # compiles
    assert min(seconds(60), seconds(60)) < 40 * max(seconds(6), 0.01)  # quadratic, it is 100


@pytest.mark.parametrize(
    ("content", "n", "broken"),
    [
        ('[{"a": 1}', 1, "the file ends before item [1] or the end of the list"),
        ('[{"a": 1}, {"b"', 1, "the file ends inside item [1], which begins at byte 11"),
        ('[{"a": 1} {"b"}]', 1, "before item [1], at byte 10, '{\"b\"}]' stands where a comma or "
         "the end of the list should be"),
        ("[{},]", 1, "before item [1], at byte 4, ']' stands where an item should be"),
        ("[,{}]", 0, "before item [0], at byte 1, ',{}]' stands where an item should be"),
        ("[{}, oops, {}]", 1, "before item [1], at byte 5, 'oops, {}]' stands where an item"),
        ("[{}}]", 1, "before item [1], at byte 3, '}]' stands where a comma or the end"),
        ("[{}] [{}]", 1, "after the end of the list, at byte 5, there is more: '[{}]'"),
        ("[", 0, "the file ends before item [0]"),
        ('{"a": 1}\n{"b', 1, "the file ends inside item [1], which begins at byte 9"),
        ('{"a": ', 0, "the file ends inside item [0], which begins at byte 0"),
    ],
)  # fmt: skip
def test_a_break_is_named_with_its_item_and_byte(content, n, broken):
    items, problem = read(content.encode())
    assert len(items) == n
    assert problem is not None
    assert problem.startswith(broken)


def test_a_missing_quotation_mark_ends_reading_not_memory():
    content = '[{"a": 1}, {"b: 2}, ' + '{"c": 3}, ' * 1000 + "]"
    items, broken = read(content.encode(), block=100, longest=1000)
    assert len(items) == 1
    assert broken == (
        "item [1], which begins at byte 11, does not end within 1,000 bytes: "
        "a quotation mark or bracket is missing"
    )
    items, broken = read(b'{"a": 1}\n{"b' + b"x" * 5000, block=100, longest=1000)
    assert len(items) == 1
    assert broken is not None
    assert "item [1], which begins at byte 9, does not end" in broken


@pytest.mark.parametrize("content", ['[{"a": 1}]', '{"a": 1}\n{"b": 2}\n'])
def test_a_byte_order_mark_and_white_space_are_passed_over(content):
    assert read(b"\xef\xbb\xbf" + content.encode()) == (
        [type(i)(i.number, i.begin + 3 * (content[0] == "[" or i.number > 0), i.content)
         for i in read(content.encode())[0]],
        None,
    )  # fmt: skip
    assert len(read(b" \n\t" + content.encode() + b" \n ")[0]) == content.count("{")


def test_lines_that_are_no_json_are_given_as_they_are():
    items, broken = read(b'{"a": 1}\nbroken {\n\n{"b": 2}\n')
    assert [item.content for item in items] == [b'{"a": 1}', b"broken {", b'{"b": 2}']
    assert [item.begin for item in items] == [0, 9, 19]
    assert broken is None


def test_a_list_is_read_again_from_its_beginning(tmp_path):
    path = tmp_path / "r.json"
    path.write_text("[1, 22, [3]")
    items = JsonList(path)
    assert items.size == 11
    assert list(items) == list(items)
    assert items.position == 11
    assert items.broken is not None


@pytest.mark.parametrize(
    ("content", "got"),
    [
        (b"", "nothing in it"),
        (b" \n", "nothing in it"),
        (b'{\n  "a": 1\n}\n', "a JSON object over several lines"),
        (b"query Q0 doc 1 2.5 tag\n", "begins with 'query Q0 doc 1 2.5 tag'"),
        (b'"text"', "begins with '\"text\"'"),
        (b"\x1f\x8bnothing", "the gzip data are damaged"),
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
    assert "a JSON list" in raised.value.expected


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    with pytest.raises(InputError, match="no such file; expected a JSON list"):
        JsonList(tmp_path / "none.json")
    with pytest.raises(InputError, match="is a folder"):
        JsonList(tmp_path)
