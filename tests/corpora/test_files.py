"""A folder of files is a corpus wherever one is read, and a file that cannot be read is named."""

from pathlib import PurePosixPath, PureWindowsPath

import pytest

from argus.corpora.opening import document_id, open_corpus, read_corpus
from argus.errors import InputError
from tests.support.files import PAGES, pdf, write_pages


def test_files_are_documents_with_headings_or_names_as_titles(tmp_path, logged):
    write_pages(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "notes.md").write_text("# Hidden\n\nNot read.")
    (tmp_path / "photo.png").write_bytes(b"\x89PNG")
    (tmp_path / "later.txt").write_text(" \n")
    documents = read_corpus(tmp_path)
    assert [(one.id, one.title) for one in documents] == [
        ("hours.md", "Opening hours"), ("sub/delivery.pdf", "delivery"),
        ("sub/returns.html", "Sending back"), ("warranty.txt", "warranty"),
    ]  # fmt: skip
    for document in documents:
        assert PAGES[document.id] in document.text and "Home" not in document.text
    assert "4 files are read; left out: 1 hidden, 1 .png, 1 empty" in logged[0]
    origin = open_corpus(tmp_path).origin
    assert origin is not None
    before = origin.describe()
    (tmp_path / "warranty.txt").write_text("Another text.")
    assert origin.describe()["sha256"] != before["sha256"] and before["records"] == 5


@pytest.mark.parametrize("kind", [PurePosixPath, PureWindowsPath])
def test_an_id_has_slashes_on_every_system(kind):
    assert document_id(kind("docs", "sub", "a b.md"), kind("docs")) == "sub/a b.md"


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.txt", "café".encode("latin-1"), r"a\.txt, line 1: byte 0xe9 .* iconv -f LATIN1"),
        ("a.pdf", b"no PDF", r"a\.pdf: cannot be read .* Export it as PDF again"),
        ("a.pdf", pdf(""), r"a\.pdf: no text in it; .* \(ocrmypdf a\.pdf a\.pdf\)"),
        ("a.md", b"\n", "no text in it"),
        ("a.png", b"", r"holds no corpus file; expected .* a folder of \.txt, \.md"),
        ("docs.jsonl", b"", "holds no corpus file; .* Give the file itself"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_with_its_mend(name, content, problem, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=problem):
        read_corpus(tmp_path)
