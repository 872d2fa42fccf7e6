"""`ngram.json`: contents of an index folder. It is an index once its manifest says `finished`.

Segments are written beside each other and entered one by one, so that a build or an append that was
killed leaves an index of whole segments, or none.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from argus.data.reading import parse_json, read_own
from argus.data.writing import write_whole
from argus.errors import InputError
from argus.generative.passages import PassageCounts

FILE, VERSION = "ngram.json", 1
SEGMENTS, TOKENIZER = "segments", "tokenizer"


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """Sources of the index.

    vocabulary: fingerprint of the tokenizer. size: token ids. border: the
    token between passages. titles: whether ` title @@` stands in
    passages. segments: their folders' names, in order. identities: of segments, by name. None of
    those that earlier versions wrote. finished: False while a build runs or after it was killed.
    counts: documents by outcome.
    """

    vocabulary: str
    size: int
    border: int
    titles: bool
    segments: tuple[str, ...] = ()
    identities: dict[str, str] = field(default_factory=dict)
    finished: bool = False
    counts: PassageCounts
    version: int = VERSION

    @property
    def is_begun(self) -> bool:
        """Whether any document is indexed: else there is nothing that a build could go on with."""
        return self.finished or bool(self.segments)

    def write(self, folder: Path) -> None:
        """Replace the manifest in a folder, whole or not at all."""
        write_whole(folder / FILE, json.dumps(asdict(self), indent=2) + "\n")

    def with_segment(self, name: str, identity: str, counts: PassageCounts) -> Manifest:
        """Return the manifest with one more segment."""
        return replace(
            self,
            segments=(*self.segments, name),
            identities={**self.identities, name: identity},
            counts=counts,
        )

    def check(self) -> None:
        """Raise ValueError for invalid contents. Segments lie in the index, each once."""
        for name, kind in (
            ("vocabulary", str), ("size", int), ("border", int), ("titles", bool),
            ("identities", dict), ("finished", bool),
        ):  # fmt: skip
            if type(getattr(self, name)) is not kind:
                raise ValueError(f"{name}: {getattr(self, name)!r:.80}")
        if not 0 <= self.border < self.size:
            raise ValueError(f"border {self.border} among {self.size} token ids")
        wrong = [one for one in self.segments if not (isinstance(one, str) and one.isalnum())]
        if wrong or len(set(self.segments)) < len(self.segments):
            raise ValueError(f"segments: {', '.join(map(repr, wrong or self.segments)):.80}")


def read_manifest(folder: Path) -> Manifest | None:
    """Return the manifest of a folder, None if there is none.

    Raises InputError for a file that is no manifest, or of a later version.
    """
    path = folder / FILE
    if not path.is_file():
        return None
    try:
        content = parse_json(read_own(path))
        version = content["version"]
        if version == VERSION:
            manifest = Manifest(
                **{
                    **content,
                    "segments": tuple(content["segments"]),
                    "counts": PassageCounts(**content["counts"]),
                }
            )
            manifest.check()
            return manifest
    except (ValueError, TypeError, KeyError, OSError) as error:
        raise InputError(
            f"no manifest of an n-gram index ({error})",
            expected="the file as `argus research generative build` wrote it",
            fix="Build the index again with --fresh.",
            where=path,
        ) from error
    raise InputError(
        f"version {version}",
        expected=f"version {VERSION}",
        fix="Build the index again with --fresh, or use the version of Argus that wrote it.",
        where=path,
    )
