"""The reference in docs/ is what the code says."""

import ast
from pathlib import Path

import pytest

from argus.cli.reference import pages
from argus.cli.reference.files import columns_of, shared, summaries
from argus.cli.reference.source import SOURCE, Name, defined, tree
from argus.cli.reference.tables import TABLES
from argus.cli.reference.texts import about_of, clauses_of, fields_of, is_record

FOLDER = Path(__file__).parents[2] / "docs" / "reference"
PAGES = pages()


@pytest.mark.parametrize("name", sorted(PAGES))
def test_a_page_is_what_the_code_says(name):
    remedy = "python -m argus.cli.reference docs/reference"
    assert (FOLDER / name).read_text(encoding="utf-8") == PAGES[name], f"run: {remedy}"


def test_no_page_is_left_of_a_command_that_is_gone():
    assert {str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*.md")} == set(PAGES)


def test_every_column_and_key_says_what_it_holds():
    columns = {table: columns_of(table) for table in TABLES}
    assert not [table for table, one in columns.items() if not one.about]
    assert not [
        (table, field.name)
        for table, one in columns.items()
        for field in one.fields
        if not field.kind or not field.text
    ]
    records = [*summaries(), *shared()]
    assert len(records) > 300
    assert not [(r.name, field.name) for r in records for field in fields_of(r) if not field.text]


def test_a_text_stands_below_a_field_or_in_a_docstring_or_is_of_its_type_or_name():
    source = '''
class Inner(TypedDict):
    """What is inside. More."""
    n: int

class Outer(Base):
    """One row. low, high: ends of it; 0 to 1. b: the
    second one.
    """
    a: int
    """The first."""
    b: int
    low: float
    high: float
    inner: list[Inner]
    k: int
    z: int
'''
    inner, outer = ast.parse(source).body
    doc = ast.get_docstring(outer)
    texts = clauses_of(doc, {"a", "b", "low", "high"})
    assert texts == {"b": "The second one.", "low": "Ends of it; 0 to 1.", "high": texts["low"]}
    assert about_of(doc, set(texts)) == "One row."
    fields = {field.name: field.text for field in fields_of(Name("Outer", "errors", outer, doc))}
    assert fields["a"] == "The first." and fields["k"] == "How far down a list counts."
    assert fields["z"] == "" and fields["inner"] == ""  # no such record in argus.errors
    assert is_record(inner) and not is_record(ast.parse("@dataclass\nclass A:\n  a: int").body[0])


BY_VARIABLE = {
    "generative/failures/jobs/files.py": "failures failure_diagnosis pruned judged",
    "remedies/repair/remedy.py": "synthesis",
    "scenarios/needs/measuring.py": "need_risk need_risk_served",
    "scenarios/needs/slices.py": "needs_slices needs_served_slices",
    "suite/job.py": "",  # tables/NAME.parquet: the columns of the suite's own tables
    "traffic/findings.py": "documents unmet over_time served_by_part traffic_slices",
}
"""Files that write tables under a name that a variable holds."""
OF_THEMSELVES = {
    "data/artifacts.py": "write_table of a folder",
    "data/kb.py": "entities relations aliases redirects",
    "data/parquet.py": "write_table",
    "indexes/lexical.py": "ids of BM25, inside of an index",
    "indexes/prescribed.py": "numbers of a blend, inside of a remedy's folder",
    "kb/parts.py": "parts of a build, removed when it is done",
    "knowledge/alignment/grounding.py": "parts of a build, removed when it is done",
    "knowledge/sources/raw.py": "parts of a build, removed when it is done",
    "planning/trials_kb.py": "a trial's own input, removed when it is done",
    "runs/folder.py": "items of a recorded run: an id, and a column per figure",
    "service/page/map/points.py": "a download, whose columns its docstring names",
    "traffic/questions/table.py": "questions",
}
"""Files that write Parquet by another way than `ArtifactFolder.write_table`, and what."""


def test_every_table_that_is_written_is_described():
    described = {name.partition(" (")[0] for names in TABLES for name in names.split(", ")}
    own, unnamed, written = set(), set(), set()
    for path in SOURCE.rglob("*.py"):
        place = str(path.relative_to(SOURCE))
        module = place.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Call) or not called(node).endswith("write_table"):
                continue
            if called(node) in ("write_table", "pq.write_table", "writer.write_table"):
                own |= {place} if "judging" not in place else set()
            elif name := literal(node.args[0], module):
                written.add(name)
            else:
                unnamed.add(place)
    assert unnamed == set(BY_VARIABLE) and own == set(OF_THEMSELVES)
    written |= {name for names in BY_VARIABLE.values() for name in names.split()}
    assert len(written) > 45 and written <= described, written - described


def called(call):
    """Return what a call calls, as it is written."""
    return ast.unparse(call.func)


def literal(node, module):
    """Return the text that an expression in a module is; nothing where a variable holds it."""
    if isinstance(node, ast.Name):
        for one in tree(module).body:
            if isinstance(one, ast.Assign) and isinstance(one.value, ast.Tuple):
                names = [target.id for target in getattr(one.targets[0], "elts", ())]
                if node.id in names:
                    return literal(one.value.elts[names.index(node.id)], module)
        try:
            node = defined(module, node.id).node.value
        except LookupError:
            return ""
    return node.value if isinstance(node, ast.Constant) else ""
