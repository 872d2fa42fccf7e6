"""Four flaws and their fixes, as a benchmark of supersession."""

from argus.authority.benchmarks.collection import Benchmark, Question
from argus.authority.rules import Edge, Record

OLD = "The archive reader writes outside of its folder and no fix is known for archive {i}."
NEW = "Members are checked before extraction since release {i}; upgrade today."
N = 4


def made(**changes):
    """Four flaws, each with its fix, and a question each that speaks as the flaw does."""
    records = [Record(f"flaw{i}", "d", text=OLD.format(i=f"alpha{i}")) for i in range(N)]
    records += [Record(f"fix{i}", "p", text=NEW.format(i=f"beta{i}")) for i in range(N)]
    questions = [
        Question(f"q{i}", f"Is a fix known for archive alpha{i} of the reader?", (f"fix{i}",),
                 (f"flaw{i}",), (f"flaw{i}", f"fix{i}"))
        for i in range(N)
    ]  # fmt: skip
    edges = [Edge(f"fix{i}", f"flaw{i}") for i in range(N)]
    return Benchmark("made", records, changes.get("questions", questions), edges)
