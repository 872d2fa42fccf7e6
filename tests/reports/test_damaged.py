import json
from itertools import islice
from shutil import copytree

import pytest

from argus.errors import InputError
from argus.reports import write_report
from tests.support.damage import mutations, wrong_types
from tests.support.results import unbound


@pytest.fixture(scope="module")
def whole(results, tmp_path_factory):
    """A folder of two jobs, with the text of both JSON files."""
    out = unbound(copytree(results, tmp_path_factory.mktemp("damaged") / "report"))
    return out, {name: (out / name).read_text() for name in ("summary.json", "manifest.json")}


@pytest.fixture
def damage(whole):
    """Write one of the files anew and render the page; the file is whole again afterwards."""
    out, texts = whole

    def written(name, text):
        (out / name).write_text(text)
        return write_report(out)

    yield written
    for name, text in texts.items():
        (out / name).write_text(text)


@pytest.mark.parametrize("name", ["summary.json", "manifest.json"])
def test_a_value_of_another_type_is_shown_or_refused_by_name(whole, damage, name):
    sections, refused = json.loads(whole[1][name]), 0
    for _, damaged in islice(wrong_types(sections), 0, None, 4):
        try:
            damage(name, json.dumps(damaged))
        except InputError as error:
            assert str(whole[0]) in str(error)
            refused += 1
    assert refused > 2


@pytest.mark.parametrize("name", ["summary.json", "manifest.json"])
@pytest.mark.parametrize("text", ["{", "[]", "7", '"ab"', "[" * 100_000, "\ud800"])
def test_a_file_that_is_no_json_of_sections_is_refused(whole, name, text, damage):
    with pytest.raises(InputError) as error:
        damage(name, text if text != "\ud800" else '"\\ud800')
    assert str(whole[0] / name) in str(error.value)


def test_a_table_that_is_gone_is_named(whole, damage):
    table = whole[0] / "misses.parquet"
    content = table.read_bytes()
    table.unlink()
    with pytest.raises(InputError, match=r"misses\.parquet") as error:
        damage("summary.json", whole[1]["summary.json"])
    table.write_bytes(content)
    assert error.value.where.file == table


def test_a_damaged_table_is_named_and_nothing_escapes(whole):
    out, refused = whole[0], 0
    for path in sorted(out.glob("*.parquet")):
        data = path.read_bytes()
        try:
            for changed in mutations(data, 6, seed=len(data)):
                path.write_bytes(changed)
                try:
                    write_report(out)
                except InputError as error:
                    assert str(out) in str(error)
                    refused += 1
        finally:
            path.write_bytes(data)
    assert refused >= 10
