"""Damaged results of an audit are refused with file and column, where they are read."""

import json
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import argus
from argus.errors import InputError
from argus.evaluation.gate import GateBounds
from tests.support.results import unbound
from tests.support.word_encoder import WordEncoder

RIDGE = argus.retrievability.ProbeConfig(families=("ridge",))
NAN, INF = float("nan"), float("inf")


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    """An audit of 200 entities that each name a word of their own and one of few."""
    base, out = tmp_path_factory.mktemp("base"), tmp_path_factory.mktemp("audited")
    words = np.random.default_rng(0).integers(40, size=200).tolist()
    rows = [
        {"_id": str(i), "title": f"T{i}", "text": f"T{i} is w{w}."} for i, w in enumerate(words)
    ]
    (base / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)))
    edges = [f"{i}\tnext\t{(i + step) % 200}" for i in range(200) for step in (1, 7)]
    (base / "edges.tsv").write_text("\n".join(["subject\trelation\tobject", *edges]))
    config = argus.retrievability.AuditConfig(k=(10,), pool=(160,), pooling="sentence")
    return argus.audit(base, out=out, encoder=WordEncoder(), config=config).folder


@pytest.fixture
def audit(audited, tmp_path):
    folder = unbound(shutil.copytree(audited, tmp_path / "audit"))
    shutil.rmtree(folder / "history", ignore_errors=True)
    return folder


def put(file, column, value, row=3):
    """Write one value of a table anew."""
    table = pq.read_table(file)
    values = table[column].to_pylist()
    values[row] = value
    at = table.schema.get_field_index(column)
    changed = pa.array(values, table.schema.field(column).type)
    pq.write_table(table.set_column(at, column, changed), file)


def refused(work, file, *columns):
    with pytest.raises(InputError, match=rf"{file}.*{'.*'.join(columns)}"):
        work()


def readers(audit, other):
    """What reads the scores of an audit."""
    return [
        lambda: argus.gate([audit], GateBounds(), baseline=other),
        lambda: argus.retrievability.fit_probe(audit, out=audit.parent / "fit", config=RIDGE),
    ]


@pytest.mark.parametrize("column", ["entity", "above", "similarity"])
def test_a_column_of_another_type_is_refused(audit, audited, column):
    file = audit / "pair_ranks.parquet"
    table = pq.read_table(file)
    texts = pa.array(map(str, table[column].to_pylist()))
    pq.write_table(table.set_column(table.schema.get_field_index(column), column, texts), file)
    refused(readers(audit, audited)[1], "pair_ranks.parquet", f"field '{column}'", "string")
