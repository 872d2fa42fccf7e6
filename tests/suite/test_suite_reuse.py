"""What the benchmark of a suite's embeddings counts, on one small draw of one collection."""

import pytest

from benchmarks import suite_reuse


@pytest.mark.slow
@pytest.mark.usefixtures("shared")
def test_every_text_is_embedded_once_also_those_that_remedies_make(monkeypatch):
    plain = suite_reuse.SUITE.split('[[retrievers]]\nname = "query prompt"')[0]
    remedies = suite_reuse.SUITE[suite_reuse.SUITE.index("[[remedies]]") :]
    monkeypatch.setattr(suite_reuse, "SUITE", plain + remedies)
    monkeypatch.setattr(suite_reuse, "COLLECTIONS", ("hotpot100",))
    monkeypatch.setattr(suite_reuse, "KNOWLEDGE", ("hotpot100",))
    monkeypatch.setattr(suite_reuse, "QUESTIONS", 4)
    monkeypatch.setattr(suite_reuse, "OTHERS", 10)
    result = suite_reuse.run()
    assert (result["cells"]["measured"], result["cells"]["failed"]) == (5, 0)
    assert result["embedded"] == result["distinct"]
    assert result["embedded_for_expansions"] > 20
    assert (result["cells_of_expansions"], result["of_them_unchanged"]) == (2, 0)
    assert result["embedded_again"] == 0
