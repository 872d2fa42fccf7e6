import json
import math

import pytest

from argus.encoders import EncoderConfig
from argus.errors import InputError, Location
from argus.indexes.header import (
    IndexHeader,
    describe_encoder,
    parse_index_spec,
    read_header,
    write_header,
)

EMBEDDED = IndexHeader(fingerprint="model@1", dim=3)


@pytest.mark.parametrize(
    ("field", "value", "place"),
    [
        ("fingerprint", "", "fingerprint"),
        ("dim", 0, "dim"),
        ("dim", math.inf, "dim"),
        ("dim", 3.5, "dim"),
        ("encoder", 3, "encoder"),
        ("format", -math.inf, "format"),
        ("format", 2, None),
    ],
)
def test_a_damaged_header_is_named(tmp_path, field, value, place):
    write_header(tmp_path, EMBEDDED)
    file = tmp_path / "index.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), field: value}))
    with pytest.raises(InputError) as refused:
        read_header(tmp_path)
    assert refused.value.where == (Location(file, field=place) if place else file)


@pytest.mark.parametrize("text", ["{", "[" * 100_000, "\udcff", "1" * 5000])
def test_a_header_that_is_no_json_is_damaged(tmp_path, text):
    (tmp_path / "index.json").write_text(text, errors="surrogateescape")
    with pytest.raises(InputError, match="is damaged") as refused:
        read_header(tmp_path)
    assert refused.value.where == tmp_path / "index.json"


def test_an_index_spec_names_path_and_state(tmp_path):
    odd = tmp_path / "a@b"
    odd.mkdir()
    assert parse_index_spec(str(odd)).as_of is None
    assert (parse_index_spec(f"{odd}@r1").path, parse_index_spec(f"{odd}@r1").as_of) == (odd, "r1")
    assert str(parse_index_spec("x@original")) == "x@original"
    with pytest.raises(InputError, match="PATH@original, PATH@REMEDY_ID or PATH@before:"):
        parse_index_spec("x@")


def test_no_secret_of_an_address_is_written_down():
    config = EncoderConfig(model="openai:m", base_url="https://me:secret@host:8/v1?key=secret")
    assert describe_encoder(config)["base_url"] == "https://host:8/v1"
