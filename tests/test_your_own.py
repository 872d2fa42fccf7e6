"""The examples of docs/your-own.md run: encoder, remedy, rule and decoding of one's own."""

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.contract.examples import invoke
from tests.support.examples import write_files

pytestmark = pytest.mark.slow
PAGE = (Path(__file__).parents[1] / "docs/your-own.md").read_text(encoding="utf-8")
BEFORE = (
    "index build --corpus docs.jsonl --out index/",
    "research generative build --corpus docs.jsonl --tokenizer bpe:500 --out ngrams/",
    "research generative train --index ngrams/ --corpus docs.jsonl --d-model 32 --layers 1 "
    "--epochs 1 --out trained/",
)


def test_the_files_of_the_page_are_short_and_what_they_do_is_in_the_results(
    tmp_path, shared, monkeypatch
):
    folder = tmp_path
    write_files(folder, shared("fb15k237"))
    files = re.findall(r"```python\n# (\w+\.py): (.*?)```", PAGE, re.DOTALL)
    assert len(files) == 4 and max(len(re.findall(r"\n\s*\S", code)) for _, code in files) <= 20
    for name, code in files:
        (folder / name).write_text(f"# {code}")
    suite = '[[retrievers]]\nencoder = "hashed.py:Hashed"\n[[tasks]]\ntask = "task"\n'
    (folder / "suite.toml").write_text(suite + re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)[0])
    monkeypatch.chdir(folder)
    shown = "".join(re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)).replace("argus ", "")
    for line in (*BEFORE, *shown.splitlines(), "research suite suite.toml --out suite/"):
        code, out, err = invoke(shlex.split(line))
        assert code == 0, (line, out, err)
    header = json.loads((folder / "hashed" / "index.json").read_text())
    assert header["encoder"]["model"] == "hashed.py:Hashed"
    trial = json.loads((folder / "index" / "repair" / "summary.json").read_text())["repair"]
    assert "texts:unnamed.py:remedy" in {t["arm"] for t in trial["arms"]}
    served = json.loads((folder / "superseded" / "summary.json").read_text())["authority"]
    assert served["documents"]["superseded"] == 12
    suite = json.loads((folder / "suite" / "summary.json").read_text())["suite"]
    assert suite["cells"] == {"total": 2, "measured": 2, "kept": 0, "failed": 0}
    assert {row["remedy"] for row in suite["rows"]} == {"none", "unnamed"}
    answers = (folder / "greedy" / "answers.jsonl").read_text().splitlines()
    assert len(answers) >= 5
