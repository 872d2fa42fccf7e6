"""The scenarios' section: documents with scenarios, and documents without."""

from __future__ import annotations

from pathlib import Path

from argus.reports.section import MAX_ROWS, Section, table
from argus.scenarios.files import FILE, read_profiles
from argus.scenarios.profile import ProfileState
from argus.scenarios.profiles.summary import ProfileCounts


def section(folder: Path, scenarios: ProfileCounts) -> Section:
    """Build it from profiles.jsonl."""
    profiles = read_profiles(folder / FILE).values()
    rows = [
        [p.doc_id, p.profile.main_topic, s.information_need, s.explanation]
        for p in profiles
        if p.profile is not None
        for s in p.profile.scenarios
    ]
    columns = dict.fromkeys(["document", "main topic", "information need", "explanation"], "text")
    tables = {"scenarios": table(columns, rows[:MAX_ROWS], total=len(rows))}
    missing = [
        [p.doc_id, str(p.state), p.reason] for p in profiles if p.state is not ProfileState.OK
    ]
    if missing:
        heads = dict.fromkeys(["document", "state", "reason"], "text")
        tables["without_scenarios"] = table(heads, missing[:MAX_ROWS], total=len(missing))
    d = scenarios["documents"]
    brief = f"{scenarios['scenarios']:,} scenarios for {d['ok']:,} of {d['total']:,} documents"
    return Section({}, tables, brief)
