"""Options of `research kb build` that a source has no use for are refused, not passed over."""

import json

import pytest

from argus.cli.main import main
from tests.support.dumps import item, items_dump, pages_dump


@pytest.fixture
def inputs(tmp_path):
    """Each source, by what names it."""
    text = {"A": "'''A''' is a letter of the [[B|alphabet]] here.", "B": "'''B''' is not an A."}
    (tmp_path / "rows.jsonl").write_text(
        json.dumps({"key": "a", "label": "A", "text": "A is a letter of the alphabet."})
    )
    (tmp_path / "triples.tsv").write_text("a\tis\tb\n")
    (tmp_path / "labels.tsv").write_text("a\tA\nb\tB\n")
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "a.md").write_text("# A\n\nA is a letter of the alphabet here.\n")
    items = items_dump(tmp_path / "items.json", [item("Q1", "A", "A", description="a letter")])
    return {
        "wikipedia": ["--wikipedia", pages_dump(tmp_path / "pages.xml", text)],
        "wikidata": ["--wikidata", items],
        "rows": ["--entities", tmp_path / "rows.jsonl"],
        "triples": ["--triples", tmp_path / "triples.tsv", "--labels", tmp_path / "labels.tsv"],
        "pages": ["--pages", tmp_path / "pages"],
    }


@pytest.fixture
def argus(tmp_path, monkeypatch, capsys):
    def run(*options):
        arguments = [
            "argus",
            "research",
            "kb",
            "build",
            "--out",
            str(tmp_path / "kb"),
            *map(str, options),
        ]
        monkeypatch.setattr("sys.argv", arguments)
        with pytest.raises(SystemExit) as stopped:
            main()
        return stopped.value.code, capsys.readouterr().err

    return run


@pytest.mark.parametrize(
    ("source", "option", "what"),
    [
        ("wikipedia", ["--id-field", "key"], "columns of --entities"),
        ("triples", ["--title-field", "name"], "columns of --entities"),
        ("pages", ["--text-field", "body"], "columns of --entities"),
        ("triples", ["--coerce-ids"], "ids of --entities"),
        ("wikidata", ["--links", "page"], "of --wikipedia"),
        ("rows", ["--links", "none"], "of --wikipedia"),
        ("rows", ["--lang", "fr"], "the language of --wikipedia, --wikidata"),
        ("pages", ["--lang", "de"], "the language of --wikipedia, --wikidata"),
        ("triples", ["--split-mib", "4"], "how dumps are read"),
    ],
)
def test_an_option_that_would_do_nothing_is_refused(source, option, what, inputs, argus, tmp_path):
    code, output = argus(*inputs[source], *option)
    assert code == 2
    assert output.startswith(
        f"argus: argus research kb build: {option[0]} with a source that has no use for"
    )
    assert f"what it is for: {what}" in output and not (tmp_path / "kb").exists()
