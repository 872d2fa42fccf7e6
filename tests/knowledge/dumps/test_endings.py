import bz2

import pytest

from argus.knowledge.dumps.compressed import RecordKind
from argus.knowledge.dumps.splits import cut_short
from tests.support.dumps import item, items_dump, pages_dump

PACKS = {"plain": bytes, "bz2": bz2.compress, "bz2 of many streams": None}


def packed(text: bytes, pack: str) -> bytes:
    if pack == "bz2 of many streams":
        return b"".join(bz2.compress(text[i : i + 700]) for i in range(0, len(text), 700))
    return PACKS[pack](text)


@pytest.fixture
def pages(tmp_path):
    text = {f"P{i}": f"'''P{i}''' is a page of several words." for i in range(20)}
    return pages_dump(tmp_path / "pages.xml", text, pack="plain").read_bytes()


@pytest.fixture
def items(tmp_path):
    rows = [item(f"Q{i}", f"P{i}", f"P{i}") for i in range(20)]
    return items_dump(tmp_path / "items.json", rows, pack="plain").read_bytes()


@pytest.mark.parametrize("pack", PACKS)
def test_a_text_cut_before_packing_is_damage_at_its_end(tmp_path, pages, items, pack):
    path = tmp_path / "dump"
    cut = {
        "without </mediawiki>": (pages[: pages.index(b"  <page>", 2000)], RecordKind.PAGE),
        "ends inside a line": (items[:777], RecordKind.LINE),
        "without the array's ]": (items[: items.index(b"},\n", 777) + 3], RecordKind.LINE),
    }
    for what, (text, kind) in cut.items():
        path.write_bytes(packed(text, pack))
        damage = cut_short(path, kind)
        assert damage is not None
        assert what in damage.what
        assert damage.byte == path.stat().st_size
        assert str(path) in str(damage)
