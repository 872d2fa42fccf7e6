"""The reference in docs/ is what the code says."""

from pathlib import Path

import pytest

from argus.cli.reference import pages

FOLDER = Path(__file__).parents[2] / "docs" / "reference"
PAGES = pages()


@pytest.mark.parametrize("name", sorted(PAGES))
def test_a_page_is_what_the_code_says(name):
    remedy = "python -m argus.cli.reference docs/reference"
    assert (FOLDER / name).read_text(encoding="utf-8") == PAGES[name], f"run: {remedy}"


def test_no_page_is_left_of_a_command_that_is_gone():
    assert {str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*.md")} == set(PAGES)
