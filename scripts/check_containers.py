"""Whether Containerfile and compose.yaml are well formed, and every path in them is there.

`python scripts/check_containers.py [FOLDER]`. Nothing is built or run. Exit 1 with what is wrong.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import yaml

INSTRUCTIONS = {
    "ARG", "CMD", "COPY", "ENTRYPOINT", "ENV", "EXPOSE", "FROM", "HEALTHCHECK", "LABEL", "RUN",
    "USER", "VOLUME", "WORKDIR",
}  # fmt: skip
SERVICE_KEYS = {
    "build", "command", "depends_on", "environment", "healthcheck", "image", "ports", "volumes",
}  # fmt: skip


def faults(folder: Path) -> Iterator[str]:
    """Yield what is wrong with the two files in a folder."""
    stages = []
    for number, line in instructions(folder / "Containerfile"):
        word, _, rest = line.partition(" ")
        where = f"Containerfile, line {number}"
        if word not in INSTRUCTIONS:
            yield f"{where}: unknown instruction {word!r}"
        elif word == "FROM":
            stages.append(rest.split()[-1])
        elif not stages and word != "ARG":
            yield f"{where}: {word} before FROM"
        elif word == "COPY":
            yield from _missing(rest, folder, stages, where)
        elif word in ("CMD", "ENTRYPOINT") and rest.startswith("["):
            yield from _no_list(rest, where)
    yield from _compose(folder)


def instructions(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the instructions of a Containerfile with the lines they begin at, each in one line."""
    whole, begun = "", 0
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        begun = begun or number
        whole += line.strip().removesuffix("\\")
        if not line.rstrip().endswith("\\"):
            yield begun, whole
            whole, begun = "", 0
    if whole:
        yield begun, whole


def _missing(rest: str, folder: Path, stages: list[str], where: str) -> Iterator[str]:
    words = shlex.split(rest)
    stage = next((w.removeprefix("--from=") for w in words if w.startswith("--from=")), None)
    if stage is not None:
        if stage not in stages:
            yield f"{where}: no stage {stage!r}"
        return
    for source in [w for w in words if not w.startswith("--")][:-1]:
        if not list(folder.glob(source)):
            yield f"{where}: no {source} here"


def _no_list(rest: str, where: str) -> Iterator[str]:
    try:
        json.loads(rest)
    except json.JSONDecodeError as error:
        yield f"{where}: {error}"


def _compose(folder: Path) -> Iterator[str]:
    content = yaml.safe_load((folder / "compose.yaml").read_text("utf-8"))
    services, volumes = content.get("services", {}), content.get("volumes", {})
    for name, service in services.items():
        where = f"compose.yaml, {name}"
        for key in set(service) - SERVICE_KEYS:
            yield f"{where}: unknown key {key!r}"
        build = service.get("build")
        if (build is None) == ("image" not in service):
            yield f"{where}: either build or image"
        if build is not None and not (folder / build["context"] / build["dockerfile"]).is_file():
            yield f"{where}: no {build['dockerfile']} here"
        for other in service.get("depends_on", ()):
            if other not in services:
                yield f"{where}: depends on {other!r}, which is no service"
        for mount in service.get("volumes", ()):
            source = mount.partition(":")[0]
            if source.startswith(".") and not (folder / source).exists():
                yield f"{where}: no {source} here"
            if re.match(r"[\w-]+$", source) and source not in volumes:
                yield f"{where}: volume {source!r} is not declared"


def main() -> int:
    """Print what is wrong; return how the process ends."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1]
    wrong = list(faults(folder))
    print("\n".join(wrong) or "Containerfile and compose.yaml are well formed; nothing was built")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
