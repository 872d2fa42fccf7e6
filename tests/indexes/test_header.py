import json

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
    ("damage", "field"),
    [
        ({"fingerprint": ""}, "fingerprint"),
        ({"dim": 0}, "dim"),
        ({"dim": 3.5}, "dim"),
        ({"encoder": 3}, "encoder"),
        ({"format": 2}, None),
        ("{", None),
        ("[" * 100_000, None),
        ("\udcff", None),
        ("1" * 5000, None),
    ],
)
def test_a_damaged_header_is_named(tmp_path, damage, field):
    write_header(tmp_path, EMBEDDED)
    file = tmp_path / "index.json"
    if isinstance(damage, dict):
        damage = json.dumps(json.loads(file.read_text()) | damage)
    file.write_text(damage, errors="surrogateescape")
    with pytest.raises(InputError) as refused:
        read_header(tmp_path)
    assert refused.value.where == (Location(file, field=field) if field else file)


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
