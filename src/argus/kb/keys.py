"""What a build, and the parts of a killed one, are known by."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from argus.data.provenance import content_hash
from argus.data.storage import is_remote, local_path, state_of_file
from argus.kb.config import MEMORY_BYTES, KbConfig
from argus.kb.source import Dumps, Source
from argus.knowledge.dumps import SPLIT_SIZE
from argus.version import __version__


def build_key(source: Dumps | Source, config: KbConfig, place: str | None) -> str:
    """Return what a finished build is known by: all but what changes nothing in it.

    place: of the shards, if they are not in the folder of the build.
    """
    same = replace(config, memory_bytes=MEMORY_BYTES, split_bytes=SPLIT_SIZE)
    return content_hash(*_states_of(source), repr(same), place or "", size=8).hex()


def reading_key(source: Dumps | Source, config: KbConfig) -> str:
    """Return what the parts of a killed build are known by: what reading a dump depends on.

    More memory, another sample or another place for the shards cost no second reading.
    """
    read_by = (config.language, config.links, config.min_words, config.limit, config.split_bytes)
    return content_hash(*_states_of(source), repr(read_by), size=8).hex()


def state_of(location: Path | str) -> str:
    """Return what changes when a file, or a file in a folder, does: its size and time of change.

    Dumps of 100 GB are not hashed before each start. Objects in stores are asked for theirs.
    """
    if not is_remote(location):
        path = local_path(location)
        if path.is_dir():
            files = sorted(p for p in path.rglob("*") if p.is_file())
            return content_hash(*(_stat(p) for p in files)).hex()
        return _stat(path) if path.exists() else str(path)
    state = state_of_file(location)
    return f"{location}:{state.bytes}:{state.changed_ns}" if state else str(location)


def _stat(path: Path) -> str:
    status = path.stat()
    return f"{path.resolve()}:{status.st_size}:{status.st_mtime_ns}"


def _states_of(source: Dumps | Source) -> list[str]:
    states = [f"{name}={state_of(path)}" for name, path in source.inputs().items()]
    return [__version__, *states, repr(source)]
