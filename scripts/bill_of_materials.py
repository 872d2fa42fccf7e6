"""What comes with Argus: each package with version and licence, as CycloneDX JSON or as a table.

`python scripts/bill_of_materials.py sbom.json` writes the bill of materials of what is installed;
without a file it prints the licences. Read from the metadata of the packages: nothing is asked.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

NAME = "argus-retrieval"
UNKNOWN = "not stated"


def packages(extras: tuple[str, ...]) -> dict[str, Distribution]:
    """Return what is installed of what Argus and some extras require, directly or not."""
    found: dict[str, Distribution] = {}
    seen: set[tuple[str, tuple[str, ...]]] = set()
    todo = [(NAME, extras)]
    while todo:
        name, wanted = todo.pop()
        if (name, wanted) in seen:
            continue
        seen.add((name, wanted))
        try:
            one = distribution(name)
        except PackageNotFoundError:
            continue
        found[_plain(name)] = one
        for line in one.requires or ():
            need = Requirement(line)
            if need.marker is None or any(
                need.marker.evaluate({"extra": extra}) for extra in ("", *wanted)
            ):
                todo.append((need.name, tuple(sorted(need.extras))))
    return dict(sorted(found.items()))


def licence(one: Distribution) -> str:
    """Return a package's licence: its expression, else its classifiers, else its short text."""
    about = one.metadata
    if expression := about.get("License-Expression"):
        return expression
    kinds = [line.rpartition(" :: ")[2] for line in about.get_all("Classifier") or ()
             if line.startswith("License ::")]  # fmt: skip
    kinds = [kind for kind in kinds if kind != "OSI Approved"]
    text = (about.get("License") or "").strip().splitlines()
    return ", ".join(kinds) or (text[0][:80] if text else UNKNOWN)


def bill(found: dict[str, Distribution]) -> dict[str, Any]:
    """Return the bill of materials (CycloneDX 1.5)."""
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "components": [
            {
                "type": "library", "name": name, "version": one.version,
                "purl": f"pkg:pypi/{name}@{one.version}",
                "licenses": [{"license": {"name": licence(one)}}],
            }
            for name, one in found.items()
        ],
    }  # fmt: skip


def table(found: dict[str, Distribution]) -> Iterator[str]:
    """Yield a line per package: name, version, licence."""
    for name, one in found.items():
        yield f"{name:32} {one.version:16} {licence(one)}"


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def main() -> None:
    """Write the bill into the file that is named, or print the licences."""
    extras = distribution(NAME).metadata.get_all("Provides-Extra") or []
    found = packages(tuple(sorted(set(extras) - {"dev", "docs"})))
    if len(sys.argv) > 1:
        text = json.dumps(bill(found), indent=2, sort_keys=True)
        Path(sys.argv[1]).write_text(f"{text}\n", encoding="utf-8")
        print(f"{len(found)} packages in {sys.argv[1]}")
    else:
        print(*table(found), sep="\n")


if __name__ == "__main__":
    main()
