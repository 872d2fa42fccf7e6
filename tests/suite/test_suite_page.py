"""The table of a suite on the page of published tables, made of a suite's rows."""

from benchmarks import suite_tables


def row(remedy, name, ndcg, tca=None, **comparison):
    about = {"verdict": "", "low": None, "high": None, "harmed": 0, "improved": 0}
    return {
        "retriever": "MiniLM", "remedy": remedy, "name": name,
        "measures": {"nDCG@10": ndcg, "TCA@5": tca},
        "comparison": about | comparison if comparison else None,
    }  # fmt: skip


def test_a_row_has_tasks_the_average_with_its_interval_and_questions_harmed():
    rows = [
        row("none", "hotpot", 0.9391), row("none", "ghsa", 0.1683, 0.125),
        row("none", "all tasks", 0.5537),
        row("two stages", "hotpot", 0.9391, verdict="", harmed=1),
        row("two stages", "ghsa", 0.9624, 1.0, verdict="better", harmed=2, improved=39),
        row("two stages", "all tasks", 0.9508, verdict="better", low=0.234, high=0.346),
    ]  # fmt: skip
    head, _, none, served = suite_tables.table({"tasks": ["hotpot", "ghsa"], "rows": rows})
    assert head == (
        "| retriever | remedy | hotpot nDCG@10 | ghsa nDCG@10 | average (to none, 95%) "
        "| harmed : improved | ghsa TCA@5 |"
    )
    assert none == "| MiniLM | none | 0.939 | 0.168 | 0.554 |  | 0.125 |"
    assert served == (
        "| MiniLM | two stages | 0.939 | 0.962 ↑ | 0.951 (+0.234 to +0.346) | 3 : 39 | 1.000 |"
    )
