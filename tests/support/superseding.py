"""A small authority relation that a person can follow: flaws, their fixes, and policies."""

import json
from pathlib import Path

# flaw-1 < fix-1 < fix-1b; flaw-3 < fix-3; flaw-2 stands.
ROWS = [
    {"_id": "flaw-1", "type": "disclosure", "timestamp": "2024-01-10", "entities": {"cve": "1"},
     "title": "Path traversal in the archive reader",
     "text": "An archive with dots in its names writes outside of its folder. No fix is known."},
    {"_id": "fix-1", "type": "patch", "timestamp": "2024-02-01", "entities": {"cve": "1"},
     "title": "Release 2.4", "text": "Members are checked before extraction. Upgrade today."},
    {"_id": "fix-1b", "type": "patch", "timestamp": "2024-03-01", "entities": {"cve": "1"},
     "title": "Release 2.5", "text": "Links are checked as well. Replaces 2.4."},
    {"_id": "flaw-2", "type": "disclosure", "timestamp": "2024-01-20", "entities": {"cve": "2"},
     "title": "Denial of service in the parser",
     "text": "Deeply nested input exhausts the stack of the parser. No fix is known."},
    {"_id": "flaw-3", "type": "disclosure", "timestamp": "2024-02-20", "entities": {"cve": "3"},
     "title": "Weak random numbers in tokens",
     "text": "Tokens are drawn from a predictable generator. No fix is known."},
    {"_id": "fix-3", "type": "patch", "timestamp": "2024-04-01", "entities": {"cve": "3"},
     "title": "Release 2.6", "text": "Secrets come from the operating system now."},
]  # fmt: skip
RULES = """\
rules:
  - name: fix
    superseding: patch
    superseded: disclosure
    scope: [cve]
  - name: newer fix
    superseding: patch
    superseded: patch
    scope: [cve]
"""
# archive serves flaw-1 though nothing of what controls it; the others are as they should be.
RUN = {
    "archive": {"flaw-1": 3.0, "flaw-2": 2.0, "fix-3": 1.0},
    "tokens": {"flaw-3": 3.0, "fix-3": 2.0},
    "parser": {"flaw-2": 3.0},
    "nothing": {},
}


def write_story(folder: Path) -> Path:
    """Write records.jsonl, rules.yaml and run.json; return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "records.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    (folder / "rules.yaml").write_text(RULES)
    (folder / "run.json").write_text(json.dumps(RUN))
    return folder


def story_source(folder: Path, **changes):
    """Return the source of the relation in a folder of `write_story`."""
    from argus.authority.config import AuthoritySource

    given = {"records": folder / "records.jsonl", "rules": str(folder / "rules.yaml")} | changes
    return AuthoritySource(**given)
