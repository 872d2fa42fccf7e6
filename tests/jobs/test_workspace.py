import pytest

from argus.data import Document, FieldNames
from argus.data.folders import ArtifactFolder
from argus.errors import InputError
from argus.jobs.workspace import Record, keep_input, read_documents

WHOLE = Document("a", "Whole \N{GRINNING FACE} characters, combined e\u0301.", "Title")


@pytest.mark.parametrize(
    ("document", "what"),
    [
        (Document("b", "x\ud83dy"), r"(\ud83d), character 2 of the text of document 'b'"),
        (Document("b", "x", "\ude00"), r"(\ude00), character 1 of the title of document 'b'"),
        (Document("b\ud83d", "x"), r"(\ud83d), character 2 of the id of document 'b\ud83d'"),
    ],
)
def test_half_a_character_in_a_document_is_refused_as_in_a_file(document, what):
    assert read_documents([WHOLE], FieldNames(), None, None) == ([WHOLE], None)
    with pytest.raises(InputError) as caught:
        read_documents([WHOLE, document], FieldNames(), None, None)
    assert str(caught.value).startswith(f"corpus: half a surrogate pair {what}; expected whole")
    assert read_documents([WHOLE, document], FieldNames(), 1, None) == ([WHOLE], None)


def job(folder, name, corpus, **settings):
    record = Record(name, settings, {"corpus": corpus})
    record.open(folder)
    folder.write_results(name, {}, record.manifest({}))


def test_input_in_the_folder_or_the_folder_itself_is_kept(tmp_path):
    out = tmp_path / "out"
    ArtifactFolder(out).open()
    inside, beside = out / "runs" / "a.trec", tmp_path / "outside"
    for path in (out, inside, tmp_path / "x" / ".." / "out"):
        with pytest.raises(InputError, match="--fresh would empty the folder that holds"):
            keep_input(ArtifactFolder(out, fresh=True), [None, path])
    keep_input(ArtifactFolder(out, fresh=True), [None, beside, tmp_path])
    keep_input(ArtifactFolder(out), [inside])


def test_a_folder_holds_the_jobs_of_one_corpus(tmp_path):
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    first.write_text("one")
    second.write_text("another")
    folder = ArtifactFolder(tmp_path / "out")
    job(folder, "audit", first, limit=None)
    for theirs, settings in ((second, {}), (second, {"limit": None}), (first, {"limit": 5})):
        with pytest.raises(InputError, match="holds the audit of another corpus or --limit"):
            job(folder, "probe", theirs, **settings)
    job(folder, "exposure", first, limit=None)
    job(folder, "evaluation", first)
    job(folder, "remedy", None)
    job(folder, "evaluation", first)
    assert set(folder.read_json("manifest.json")) == {"audit", "exposure", "evaluation", "remedy"}


def test_an_input_is_hashed_once_and_as_it_was_read(tmp_path):
    corpus, folder = tmp_path / "a.jsonl", ArtifactFolder(tmp_path / "out")
    corpus.write_text("one")
    record = Record("audit", {}, {"corpus": corpus, "none": None})
    record.open(folder)
    was = record.describe("corpus", "none")
    corpus.write_text("another")
    assert list(was) == ["corpus"] and was["corpus"]["bytes"] == 3
    assert record.manifest({})["inputs"] == was
