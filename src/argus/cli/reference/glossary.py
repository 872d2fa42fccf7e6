"""The page of words: those of the report, and where each is measured."""

from __future__ import annotations

from argus.cli.reference.made import page
from argus.reports.glossary import MEASURED, TERMS

HEAD = "| term | what it means | measured by |\n|---|---|---|\n"


def glossary_page() -> str:
    """Return the glossary of the report as a page."""
    about = "The words of the report, of the guides and of the commands.\n\n"
    rows = "".join(
        f"| {term} | {TERMS[term]} | {_measured(term)} |\n"
        for term in sorted(TERMS, key=str.casefold)
    )
    return page("Glossary", about + HEAD + rows)


def _measured(term: str) -> str:
    """Return the commands that measure it, each with its page."""
    return ", ".join(
        f"[`argus {name}`](commands/{name.replace(' ', '-')}.md)" for name in MEASURED.get(term, ())
    )
