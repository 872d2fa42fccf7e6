import pytest

from argus.data import Document, FieldNames
from argus.errors import InputError
from argus.workflows.workspace import read_documents

WHOLE = Document("a", "Whole \N{GRINNING FACE} characters, combined e\u0301.", "Title")


@pytest.mark.parametrize(
    ("document", "what"),
    [
        (Document("b", "x\ud83dy"), r"(\ud83d), character 2 of the text of document 'b'"),
        (Document("b", "x", "\ude00"), r"(\ude00), character 1 of the title of document 'b'"),
        (Document("b\ud83d", "x"), r"(\ud83d), character 2 of the id of document 'b\ud83d'"),
    ],
)
def test_half_a_character_in_a_program_s_document_is_refused_as_in_a_file(document, what):
    assert read_documents([WHOLE], FieldNames(), None) == ([WHOLE], None)
    with pytest.raises(InputError) as caught:
        read_documents([WHOLE, document], FieldNames(), None)
    assert str(caught.value).startswith(f"corpus: half a surrogate pair {what}; expected whole")
    assert read_documents([WHOLE, document], FieldNames(), 1) == ([WHOLE], None)
