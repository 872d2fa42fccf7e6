import json
import math
from pathlib import Path

import pytest

from argus.encoders import EncoderConfig
from argus.errors import EncoderMismatch, InputError, Location
from argus.indexes.header import (
    IndexHeader,
    VectorsFile,
    describe_encoder,
    parse_index_spec,
    read_header,
    write_header,
)

FILE = VectorsFile(sha256="ab" * 32, encoder="model@1", agreement=0.03, least=-0.04)
EMBEDDED = IndexHeader(fingerprint="model@1", dim=3)
AGREEING = IndexHeader(fingerprint="model@1", dim=3, vectors=FILE)
FOREIGN = IndexHeader(fingerprint="own", dim=3, vectors=FILE)


def test_an_encoder_may_ask_foreign_vectors_and_add_none_to_them():
    where = Path("i")
    for header in (EMBEDDED, AGREEING):
        header.check_fingerprint("model@1", where)
        with pytest.raises(EncoderMismatch):
            header.check_fingerprint("other", where)
    FOREIGN.check_fingerprint(None, where)
    FOREIGN.check_fingerprint("own", where)
    FOREIGN.check_queries("model@1", where)
    with pytest.raises(EncoderMismatch):
        FOREIGN.check_queries("other", where)
    with pytest.raises(
        InputError, match=r"not those of model@1 \(cosine.*median 0\.03, least -0\.04"
    ):
        FOREIGN.check_fingerprint("model@1", where)


VECTORS = {"sha256": "x", "encoder": "e", "agreement": 1.0, "least": 0.9}


@pytest.mark.parametrize(
    ("field", "value", "place"),
    [
        ("vectors", {"sha256": "x"}, "vectors.encoder"),
        ("vectors", {**VECTORS, "sha256": 1}, "vectors.sha256"),
        ("vectors", {**VECTORS, "encoder": ""}, "vectors.encoder"),
        ("vectors", {**VECTORS, "least": math.nan}, "vectors"),
        ("vectors", [], "vectors"),
        ("fingerprint", "", "fingerprint"),
        ("dim", 0, "dim"),
        ("dim", math.inf, "dim"),
        ("dim", 3.5, "dim"),
        ("encoder", 3, "encoder"),
        ("encoder", {"batch_size": math.inf}, "encoder.batch_size"),
        ("format", -math.inf, "format"),
        ("fields", [["id"]], "fields.0"),
        ("fields", 3, "fields"),
        ("format", 2, None),
        ("fields", ["id"], None),
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
