"""The pages of what jobs write: the columns of tables, and the keys of summary.json.

Columns are those of the schema or record that the job writes or reads the table by; keys are those
of the records in the modules called `summary`. Both are read from where they are declared.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from importlib import import_module
from itertools import groupby
from typing import Any

from argus.cli.reference.made import cell, first_paragraph, page, parts
from argus.cli.reference.source import SOURCE, string_of, tree

TABLES = {
    "retrievability": "retrievability.audit.section:Row",
    "exposure": "retrievability.exposure.findings:SCHEMA",
    "displaced": "retrievability.exposure.findings:SIDE_SCHEMA",
    "misses": "retrievability.exposure.section:Miss",
    "predicted": "retrievability.probes.prediction_section:Row",
    "diagnosis": "remedies.diagnosis.section:RiskRow",
    "receipt": "remedies.repair.section:ReceiptRow",
    "receipt_judged": "remedies.repair.receipt_judged:SCHEMA",
    "repair_questions": "repair.trial_table:SCHEMA",
    "unreached": "reach.summary:UnreachedRecord",
    "slices": "measures.slices:SCHEMA",
    "comparison": "evaluation.compare.rows:SCHEMA",
    "comparison_queries": "evaluation.compare.rows:QUERY_SCHEMA",
    "comparison_only": "evaluation.compare.rows:ONLY_SCHEMA",
    "authority": "authority.jobs.audit_section:Pair",
    "lint": "authority.jobs.lint:_SCHEMA",
    "undecided": "authority.jobs.lint:_PAIRS",
    "need_audit": "scenarios.needs.tables:_DOCUMENTS",
    "needs_served": "scenarios.needs.served:_DOCUMENTS",
    "needs_served_queries": "scenarios.needs.served:_NEEDS",
    "scenarios_qa": "scenarios.qa.tables:SCHEMA",
    "ablation_types": "scenarios.ablation.by_type:_SCHEMA",
    "preferences": "scenarios.study.reading:_SCHEMA",
    "failures": "generative.failures.measures.columns:COLUMNS",
    "failure_diagnosis": "generative.failures.jobs.summary:DIAGNOSIS_SCHEMA",
    "pruned": "generative.failures.jobs.files:PRUNED_SCHEMA",
    "judged": "generative.failures.jobs.judging:SCHEMA",
    "questions of argus traffic": "traffic.questions.table:SCHEMA",
}
"""Table (NAME.parquet, of most NAME.csv too): where its columns are declared."""
HEAD = "| {} | type | what it holds |\n|---|---|---|\n"
COLUMN, KEY = HEAD.format("column"), HEAD.format("key")
ABOUT_TABLES = (
    "Columns of the tables that jobs write, as NAME.parquet and mostly as NAME.csv. Where the last "
    "line names a record and not a schema, these are the columns that the report reads; the file "
    "may have more.\n\n"
)
SUMMARIES = (
    "Keys of `summary.json`, by the record that declares them. `argus.data.records` checks a "
    "summary against them when it is read back.\n\n"
)
Row = tuple[str, str, str]


def file_pages() -> dict[str, str]:
    """Return the pages of tables, a page of summaries per room, and the list of them."""
    texts = {
        f"{name}.md": page(title, ABOUT_TABLES + "\n".join(part))
        for name, title, part in _numbered("tables", "Tables", map(_table, sorted(TABLES)))
    }
    classes = sorted(_summaries(), key=lambda one: one[0])
    for room, group in groupby(classes, key=lambda one: one[0].partition(".")[0]):
        entries = [_summary(node) for _, node in group]
        for name, title, part in _numbered(f"summary-{room}", f"summary.json: {room}", entries):
            texts[f"{name}.md"] = page(title, SUMMARIES + "\n".join(part))
    rows = "".join(
        f"* [{text.partition('# ')[2].partition(chr(10))[0]}]({name})\n"
        for name, text in texts.items()
    )
    return {"overview.md": page("What a job writes", rows)} | texts


def _numbered(
    name: str, title: str, entries: Iterable[str]
) -> Iterator[tuple[str, str, list[str]]]:
    for i, part in enumerate(parts(entries)):
        more = f" ({i + 1})" if i else ""
        yield f"{name}-{i + 1}" if i else name, f"{title}{more}", part


def _table(name: str) -> str:
    return _section(name, "", COLUMN, columns_of(name), f"argus.{TABLES[name]}")


def columns_of(table: str) -> Iterator[Row]:
    """Yield name, type and docstring of each column of a table in TABLES."""
    module, name = TABLES[table].split(":")
    node = _class(module, name)
    if node is not None:
        yield from _fields(node)
        return
    schema: Any = getattr(import_module(f"argus.{module}"), name)
    fields = (
        schema.items() if isinstance(schema, dict) else zip(schema.names, schema.types, strict=True)
    )
    for column, kind in fields:
        yield column, str(kind), ""


def _class(module: str, name: str) -> ast.ClassDef | None:
    for node in tree(module).body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            return node
    return None


def _summaries() -> Iterator[tuple[str, ast.ClassDef]]:
    """Yield module and class of every record in a module called `summary`."""
    for path in sorted(SOURCE.rglob("summary.py")):
        module = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        for node in tree(module).body:
            if isinstance(node, ast.ClassDef) and list(_fields(node)):
                yield module, node


def _summary(node: ast.ClassDef) -> str:
    bases = [ast.unparse(base) for base in node.bases]
    others = ", ".join(f"`{base}`" for base in bases if base not in ("TypedDict", "NamedTuple"))
    about = first_paragraph(ast.get_docstring(node) or "")
    about += f" Also the keys of {others}." if others else ""
    return _section(node.name, about, KEY, _fields(node), "")


def _fields(node: ast.ClassDef) -> Iterator[Row]:
    """Yield name, type and docstring of each field of a class."""
    for one, after in zip(node.body, [*node.body[1:], None], strict=True):
        if isinstance(one, ast.AnnAssign):
            yield ast.unparse(one.target), ast.unparse(one.annotation), string_of(after)


def _section(name: str, about: str, head: str, rows: Iterable[Row], place: str) -> str:
    lines = "".join(
        f"| `{column}` | `{cell(kind)}` | {cell(text)} |\n" for column, kind, text in rows
    )
    about = f"{about}\n\n" if about else ""
    return f"## {name}\n\n{about}{head}{lines}{f'{chr(10)}In `{place}`.{chr(10)}' if place else ''}"
