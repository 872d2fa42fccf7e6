"""A folder of Qdrant is opened once, whoever in a command names it."""

import json
import re
import shlex
from pathlib import Path

from typer.testing import CliRunner

from argus.cli.main import app
from argus.stores.spec import open_store
from tests.support import stores
from tests.support.chunks import write_part
from tests.support.payloads import write_payloads


def run(*words):
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, result.output
    return result.output


def test_a_folder_of_qdrant_can_be_named_twice_in_one_command(tmp_path, minilm, monkeypatch):
    from qdrant_client import QdrantClient

    monkeypatch.chdir(tmp_path)
    write_part(tmp_path)
    rows = list(map(json.loads, Path("chunks.jsonl").read_text("utf-8").splitlines()))
    vectors = minilm.encode_queries([row["text"] for row in rows])
    write_payloads("p", [{"id": row["id"], "text": row["text"]} for row in rows], vectors, "c")
    encoder = ["--encoder", "all-MiniLM-L6-v2"]
    output = run("tune", "apply", "blend", "--store", "qdrant:p/c", *encoder, "--id-field", "id")
    told = re.search("To search with it: (.*) in every command that has a retriever", output)
    run("explain", "How long is a password valid?", rows[0]["id"], *shlex.split(told[1]),
        "--corpus", "qdrant:p/c")  # fmt: skip
    output = run(
        "evaluate", "--retriever", "qdrant:p/c", "--retriever", "blended:qdrant:p/c_argus",
        *encoder, "--queries", "questions.jsonl", "--qrels", "qrels.tsv",
        "--corpus", "qdrant:p/c", "--id-field", "id", "--out", "o",
    )  # fmt: skip
    assert "12 measured, 0 failed" in output
    QdrantClient(path="p").close()  # nothing holds it any more


def test_a_store_that_is_closed_twice_leaves_its_folder_to_the_other(tmp_path):
    from qdrant_client import QdrantClient

    filled = stores.qdrant(tmp_path / "p")
    with open_store(filled.spec) as other:
        with open_store(filled.spec) as store:
            found = store.search(filled.vectors[:1], 3)
        store.close()
        assert other.search(filled.vectors[:1], 3) == found
    QdrantClient(path=str(tmp_path / "p")).close()
