"""Two files of one name: each has its own neighbours, and its own answers."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from argus.data.types import Query
from argus.retrievers.opening import opened

QUERY = [Query("q", "tea")]


@pytest.fixture
def versions(tmp_path):
    """Two folders whose search.py is the same, and whose lib.py and package are not."""
    files = []
    for name in ("old", "new"):
        package = tmp_path / name / "parts"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text("")
        (package / "last.py").write_text(f"LAST = '{name} part'\n")
        (tmp_path / name / "lib.py").write_text(f"FIRST = '{name}'\n")
        file = tmp_path / name / "search.py"
        file.write_text(
            "from lib import FIRST\nfrom parts.last import LAST\n"
            "def retrieve(query, k):\n    return [FIRST, LAST]\n"
        )
        files.append(str(file))
    return files


def test_each_file_imports_its_own_neighbours(versions):
    with ExitStack() as stack:
        sources = [stack.enter_context(opened(file)) for file in versions]
        answers = [list(source.search(QUERY, 2)["q"]) for source in sources]
    assert answers == [["old", "old part"], ["new", "new part"]]
    assert not {"lib", "parts", "parts.last"} & set(sys.modules)


def test_a_file_opened_twice_runs_its_neighbours_once(versions):
    with opened(versions[0]):
        lib = sys.modules["lib"]
        with opened(versions[1]):
            assert sys.modules["lib"] is not lib
        assert sys.modules["lib"] is lib
        with opened(versions[0]):
            assert sys.modules["lib"] is lib


MOVES = """
import pathlib
import os
os.chdir("there")
class Search:
    def __init__(self):
        self.first = pathlib.Path("first.txt").read_text()
        os.makedirs("deeper", exist_ok=True)
    def retrieve(self, query, k):
        found = [self.first, os.path.basename(os.getcwd())]
        os.chdir("deeper" if os.path.isdir("deeper") else ".")
        return found
"""


def test_a_file_that_changes_the_working_folder_changes_its_own(tmp_path, monkeypatch):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "first.txt").write_text("a")
    (tmp_path / "moves.py").write_text(MOVES)
    monkeypatch.chdir(tmp_path)
    with opened("moves.py", kept_in=Path("answers.sqlite")) as source:
        for asked, found in (("tea", "there"), ("rice", "deeper"), ("salt", "deeper")):
            assert [*source.search([Query("q", asked)], 2)["q"]] == ["a", found]
            assert Path.cwd() == tmp_path
    with opened("moves.py:Search", kept_in=Path("answers.sqlite")) as source:
        assert Path.cwd() == tmp_path
    assert (tmp_path / "answers.sqlite").is_file()


def test_answers_are_of_a_file_and_its_neighbours(versions, tmp_path):
    def kept(file):
        with opened(file, kept_in=tmp_path / "answers.sqlite") as source:
            return source.ask(QUERY, 2).kept

    assert [kept(file) for file in (*versions, *versions)] == [0, 0, 1, 1]
    (tmp_path / "old" / "parts" / "last.py").write_text("LAST = 'other'\n")
    assert [kept(file) for file in versions] == [0, 1]


def test_what_a_function_imports_counts_too(tmp_path):
    (tmp_path / "late.py").write_text("import later\nWORD = 'a'\n")
    (tmp_path / "later.py").write_text("")
    file = tmp_path / "mine.py"
    file.write_text("def retrieve(query, k):\n    import late\n    return [late.WORD]\n")
    counts = []
    for text in ("", "", "# another\n"):
        (tmp_path / "later.py").write_text(text)
        with opened(str(file), kept_in=tmp_path / "answers.sqlite") as source:
            counts.append(source.ask(QUERY, 2).kept)
    assert counts == [0, 1, 0]


def test_what_a_file_prints_is_no_result(tmp_path, capsys):
    """The standard output is the command's own: `--json` stays JSON."""
    file = tmp_path / "loud.py"
    file.write_text(
        "print('imported')\ndef retrieve(query, k):\n    print('looking')\n    return ['d']\n"
    )
    with opened(str(file)) as source:
        assert source.search(QUERY, 1) == {"q": {"d": 1.0}}
    heard = capsys.readouterr()
    assert heard.out == "" and heard.err == "imported\nlooking\n"
