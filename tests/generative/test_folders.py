"""Where models lie, and what they say of themselves."""

from __future__ import annotations

import json

import pytest

from argus.generative.folders import NOTE, is_from_scratch


@pytest.mark.parametrize(
    ("note", "scratch"),
    [
        ({"base": {"name": "scratch", "layers": 2}}, True),
        ({"base": {"name": "bart", "hash": "1"}}, False),
        ({"base": "scratch"}, False),
        ({}, False),
        ([], False),
        ("{ broken", False),
        (None, False),
    ],
)
def test_a_model_from_scratch_says_so(tmp_path, note, scratch):
    if note is not None:
        (tmp_path / NOTE).write_text(note if isinstance(note, str) else json.dumps(note))
    assert is_from_scratch(tmp_path) is scratch
