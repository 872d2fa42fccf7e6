"""Names of a suite are any text: in paths and in Markdown."""

import json
from pathlib import Path

from argus.suite.job import run_suite

LONG = "論文の検索" * 20
ODD = ("..", "../../x", "a/b", "new\nline", "x" * 300, LONG, "é", "e\u0301", "Name", "name",
       "<script>|`x`*b*", "\\input{/etc/passwd}^~")  # fmt: skip


def test_a_suite_runs_whatever_its_names_are(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text(
        '{"_id": "d", "text": "a boat"}\n{"_id": "e", "text": "a tree"}\n'
    )
    (tmp_path / "queries.jsonl").write_text('{"_id": "q", "text": "boat"}\n')
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\td\t1\n")
    toml = "".join(
        f"[[retrievers]]\nname = {json.dumps(name)}\nbm25 = true\nremedies = ['none']\n"
        f"[[tasks]]\nname = {json.dumps(name)}\ntask = 'beir:{tmp_path}'\n"
        for name in ODD
    )
    suite = tmp_path / "suite.toml"
    suite.write_text(toml)
    result = run_suite(suite, out=tmp_path / "a" / "out")
    assert result.summary["cells"]["measured"] == len(ODD) ** 2
    inputs = {"corpus.jsonl", "queries.jsonl", "qrels", "suite.toml"}
    assert {p.name for p in tmp_path.iterdir()} == {*inputs, "a"}
    table = (tmp_path / "a" / "out" / "results.md").read_text()
    rows = [line for line in table.splitlines() if line.startswith("|")]
    bars = {line.replace(r"\|", "").count("|") for line in rows}
    assert len(bars) == 1 and "<script>" not in table.replace(r"\<", "")
