"""Whether a release is whole: addresses of the project, and one version in all that names it.

usage: check_release.py [TAG]   Without a tag it warns (`make dist`); with one, which the release
workflow gives, a fault is an error: nothing is published that leads nowhere.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ADDRESSES = ("Documentation", "Source", "Changelog", "Issues")


def faults(root: Path, tag: str | None = None) -> list[str]:
    """Return what the project's files lack for a release, each with how to mend it."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    version = project["version"]
    missing = [name for name in ADDRESSES if name not in project.get("urls", {})]
    citation = (root / "CITATION.cff").read_text("utf-8")
    checks = [
        (not missing,
         f"pyproject.toml: [project.urls] lacks {', '.join(missing)}: give each its address"),
        (re.search(r"^repository-code: *\S", citation, re.M),
         "CITATION.cff: no repository-code: add the address of the source"),
        (re.search(r"^site_url: *\S", (root / "mkdocs.yml").read_text("utf-8"), re.M),
         "mkdocs.yml: no site_url: add the address of the documentation"),
        (f"\nversion: {version}\n" in citation,
         f"CITATION.cff: its version is not {version}, that of pyproject.toml"),
    ]  # fmt: skip
    if tag is not None:
        changes = (root / "CHANGELOG.md").read_text("utf-8")
        checks += [
            (tag == f"v{version}", f"the tag is {tag}, the version {version}: tag v{version}"),
            (f"\n## {version}" in changes,
             f'CHANGELOG.md: no section {version}: rename "Unreleased" and date it'),
        ]  # fmt: skip
    return [fault for is_so, fault in checks if not is_so]


if __name__ == "__main__":
    tag = sys.argv[1] if len(sys.argv) > 1 else None
    lacking = faults(Path(__file__).parents[1], tag)
    for fault in lacking:
        print(f"not ready for a release: {fault}")
    if lacking:
        print("docs/releasing.md says where each goes.")
    sys.exit(bool(lacking) and tag is not None)
