import json
from dataclasses import asdict, replace

import pytest

from argus.errors import InputError
from argus.planning import load_hardware, save_hardware


def test_what_ships_can_be_read_and_a_saved_file_says_the_same(tmp_path):
    shipped = load_hardware("two-cores")
    assert shipped.cores == 2 and shipped.encode_s > 0
    save_hardware(replace(shipped, name="mine", price_per_hour=0.5), tmp_path / "mine.json")
    again = load_hardware(str(tmp_path / "mine.json"))
    assert (again.name, again.price_per_hour, again.encode_s) == ("mine", 0.5, shipped.encode_s)


def test_a_name_that_does_not_ship_is_told_with_those_that_do():
    with pytest.raises(InputError, match="two-cores") as caught:
        load_hardware("h100")
    assert "--measure" in str(caught.value)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"encode_s": 0}, "encode_s is 0"),
        ({"encode_s": "fast"}, "encode_s is 'fast'"),
        ({"speed": 3}, "unknown: speed"),
        ({"cores": True}, "cores is True"),
        ({"encoder_window": 0}, "encoder_window is 0"),
        ({"words_s": float("inf")}, "words_s is inf"),
    ],
)
def test_a_file_with_wrong_rates_is_refused(change, words, tmp_path):
    values = asdict(load_hardware("two-cores")) | change
    (tmp_path / "h.json").write_text(json.dumps(values))
    with pytest.raises(InputError, match=words):
        load_hardware(str(tmp_path / "h.json"))


def test_an_encoder_without_a_window_is_kept_so(tmp_path):
    endless = replace(load_hardware("two-cores"), encoder_window=None)
    save_hardware(endless, tmp_path / "h.json")
    assert load_hardware(str(tmp_path / "h.json")) == endless


@pytest.mark.parametrize("text", [b"{", b"[]", b"{}", b'{"name": "half"}', b"\xff"])
def test_a_file_that_is_no_description_is_refused(text, tmp_path):
    (tmp_path / "h.json").write_bytes(text)
    with pytest.raises(InputError, match="no description of hardware"):
        load_hardware(str(tmp_path / "h.json"))


def test_what_is_missing_is_counted_and_not_spelt_out(tmp_path):
    (tmp_path / "h.json").write_text('{"name": "half", "cores": 2}')
    with pytest.raises(InputError, match=r"\d+ of \d+ entries are missing: memory_bytes, \.\.\."):
        load_hardware(str(tmp_path / "h.json"))
