"""The card of the model of risk, of the benchmark's own figures."""

from __future__ import annotations

from typing import Any

HEAD = """\
# Card: the risk of a question

Says, of each question of a log, how likely it is that none of the first ten documents is relevant.
An average of signals of fixed sign, by their rank in the log; a slope and an intercept are learnt.
No weights are learnt. Made by `TRAFFIC_MODEL=1 python -m benchmarks traffic_risk`.

Signals and signs were written down after a look at these same collections, so the figures are
those of a choice made on them, of about thirty arms; nothing else of a family is in its figures.
Served by four retrievers (MiniLM, BM25, 0.8 and 0.2 of both, reciprocal ranks), ten deep.
"""
FOOT = """
## What it is not

* A probability, before judgements: it holds for logs that fail as often as those above. Correct it
  with 20 to 50 judgements (`TrafficRisk.corrected`, or `argus traffic judge`).
* Of use where what makes a document relevant is not in its words: see *dialogues*, at chance.
* Tried on other languages than English, on chat turns that need the turn before, or on corpora of
  other sizes than above. It abstains on logs of fewer than 30 questions, on questions longer than
  any of these, on those most of whose words the corpus does not have, and where little is known.
"""


def card(result: dict[str, Any]) -> str:
    """Return the card in Markdown."""
    parts = [HEAD, _worth(result), _families(result), _calibration(result), FOOT]
    return "\n".join(parts)


def _worth(result: dict[str, Any]) -> str:
    lines = [
        "## What it is worth on families left out", "",
        "| | AUC by question (95%, questions and families drawn) | AUC by pair | "
        "calibration error | after 30 judgements |",
        "|---|---|---:|---:|---:|",
    ]  # fmt: skip
    for variant, name in (("vectors", "with vectors"), ("words", "words and scores alone")):
        own = result[variant]
        whole, error = own["question"], own["calibration"]["mean"]
        drawn = whole["families_drawn_too"]
        lines.append(
            f"| {name} | {whole['mean']:.3f} ({drawn['low']:.3f} to {drawn['high']:.3f}) | "
            f"{own['pair']['mean']:.3f} | {error['before']:.3f} | {error['30']:.3f} |"
        )
    lines += ["", "A pair fails when more than ten non-relevant documents stand above a relevant "
              "one. Calibration error: five bins of equal numbers."]  # fmt: skip
    return "\n".join(lines) + "\n"


def _families(result: dict[str, Any]) -> str:
    lines = ["| family | by question | 95% | by pair | words alone |", "|---|---:|---|---:|---:|"]
    own, words = result["vectors"], result["words"]
    for family, pair in own["pair"]["by_family"].items():
        one = own["question"]["by_family"].get(family)
        bare = words["question"]["by_family"].get(family)
        lines.append(
            f"| {family} | {_number(one)} | "
            f"{'too few failures' if one is None else _span(one)} | "
            f"{pair['auc']:.3f} | {_number(bare)} |"
        )
    return "\n".join(lines) + "\n"


def _number(one: dict[str, float] | None) -> str:
    return "" if one is None else f"{one['auc']:.3f}"


def _span(one: dict[str, float]) -> str:
    return f"{one['low']:.3f} to {one['high']:.3f}"


def _calibration(result: dict[str, Any]) -> str:
    lines = [
        "Calibration error by family, with vectors (noise: what exact probabilities would have):",
        "",
        "| family | before | 20 judgements | 30 | 50 | noise |", "|---|---:|---:|---:|---:|---:|",
    ]  # fmt: skip
    for family, e in result["vectors"]["calibration"]["by_family"].items():
        cells = [f"{e[key]:.3f}" if key in e else "" for key in ("before", "20", "30", "50")]
        lines.append(f"| {family} | {' | '.join(cells)} | {e['floor']:.3f} |")
    return "\n".join(lines) + "\n"
