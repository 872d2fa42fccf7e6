"""One folder of results, of an audit and an exposure, for all that show it."""

import pytest

import argus
from argus.data import Document
from argus.knowledge import KnowledgeSource

HOSTILE = "</script><script>document.title='owned'</script> & <b>bold</b> \u202eylno\u2066\x9b"


@pytest.fixture(scope="session")
def results(minilm, tmp_path_factory):
    out = tmp_path_factory.mktemp("report")
    names = ["Alder Hall", "Birch House", "Cedar Lodge", "Dogwood Inn", "Elm Court", HOSTILE]
    names += [f"Number {i} Gate" for i in range(60)]
    documents = [
        Document(f"d{i}", f"{n} stands here. It looks at {names[(i + 1) % 66]} all day long.", n)
        for i, n in enumerate(names)
    ]
    argus.audit(
        documents, out=out, source=KnowledgeSource(relations="mentions"), encoder=minilm,
        config=argus.retrievability.AuditConfig(k=(1,), pool=(3,)),
    )  # fmt: skip
    argus.exposure(documents, out=out, encoder=minilm, config=argus.ExposureConfig(k=1))
    return out
