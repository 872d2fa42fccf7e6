import json
from pathlib import Path

import pytest

from argus.errors import FingerprintMismatch, InputError
from argus.indexes.header import IndexHeader, VectorsFile, read_header, write_header

FILE = VectorsFile(sha256="ab" * 32, encoder="model@1", agreement=0.03, least=-0.04)
EMBEDDED = IndexHeader(fingerprint="model@1", dim=3)
AGREEING = IndexHeader(fingerprint="model@1", dim=3, vectors=FILE)
FOREIGN = IndexHeader(fingerprint="own", dim=3, vectors=FILE)


@pytest.mark.parametrize("header", [EMBEDDED, AGREEING, FOREIGN])
def test_a_header_reads_back_as_it_was_written(tmp_path, header):
    write_header(tmp_path, header)
    assert read_header(tmp_path) == header


def test_vectors_are_foreign_where_the_fingerprint_is_not_the_encoders():
    assert (EMBEDDED.foreign, AGREEING.foreign, FOREIGN.foreign) == (None, None, FILE)
    assert {h.asked_with for h in (EMBEDDED, AGREEING, FOREIGN)} == {"model@1"}


def test_an_encoder_may_ask_foreign_vectors_and_add_none_to_them():
    where = Path("i")
    for header in (EMBEDDED, AGREEING):
        header.check_fingerprint("model@1", where)
        with pytest.raises(FingerprintMismatch):
            header.check_fingerprint("other", where)
    FOREIGN.check_fingerprint(None, where)
    FOREIGN.check_fingerprint("own", where)
    FOREIGN.check_queries("model@1", where)
    with pytest.raises(FingerprintMismatch):
        FOREIGN.check_queries("other", where)
    with pytest.raises(
        InputError, match=r"not those of model@1 \(cosine.*median 0\.03, least -0\.04"
    ):
        FOREIGN.check_fingerprint("model@1", where)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("vectors", {"sha256": "x"}, "KeyError: 'encoder'"),
        ("vectors", {"sha256": 1, "encoder": "e"}, "sha256 is 1"),
        ("vectors", [], "TypeError"),
        ("fingerprint", "", "fingerprint is ''"),
        ("dim", 0, "dim is 0"),
        ("encoder", 3, "TypeError"),
        ("format", 2, "index format 2 with the fields"),
        ("fields", ["id"], "format 1 with the fields id;"),
    ],
)
def test_a_damaged_header_is_named(tmp_path, field, value, message):
    write_header(tmp_path, EMBEDDED)
    file = tmp_path / "index.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), field: value}))
    with pytest.raises(InputError, match=r"index\.json: ") as refused:
        read_header(tmp_path)
    assert message in str(refused.value)


def test_what_is_no_index_is_named(tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        read_header(tmp_path / "none")
    with pytest.raises(InputError, match=r"it holds no index\.json"):
        read_header(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a file"):
        read_header(tmp_path / "file")
