"""A search with words alone imports no model, no compiler and no client."""

import subprocess
import sys

from tests.support.superseding import write_story

SCRIPT = """
import sys
HEAVY = ("torch", "numba", "bm25s", "httpx", "sentence_transformers", "lancedb", "transformers")
from argus.cli.main import app
try:
    app(["authority", "search", "archive reader", *sys.argv[1:]])
except SystemExit as end:
    assert not end.code, end.code
print([name for name in HEAVY if name in sys.modules])
"""


def test_words_alone_need_nothing_heavy(tmp_path):
    folder = write_story(tmp_path / "story")
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT, "--records", folder / "records.jsonl",
         "--rules", folder / "rules.yaml"],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    assert "in place of flaw-1" in ran.stdout
    assert ran.stdout.splitlines()[-1] == "[]"
