"""Define the folders that `argus serve` may use, and the index, retriever or store it searches.

`open_workplace`: the arguments of the command -> a `Workplace`. Without an index, retriever or
store among them, the first index in the folders is searched. Requests may read and write only
within these folders.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count
from pathlib import Path

from argus.authority.config import AuthoritySource
from argus.commands import invocation_of
from argus.data.folders import MANIFEST, SUMMARY, ArtifactFolder, ManifestSection
from argus.data.reading import WRITTEN, reading
from argus.errors import InputError
from argus.evaluation.config import ChunkedCorpus
from argus.indexes.header import FILE as INDEX_FILE
from argus.indexes.header import IndexSpec, parse_index_spec, read_header
from argus.python_file import is_own
from argus.retrievers.config import AskingConfig
from argus.verdict.results import Results

TEXT_FIELDS = ("id", "title", "text")
# The folder of results that nobody has named a folder for, as by the commands themselves.
UNNAMED = Path("argus-out")
# The service's own files, in the first folder: jobs and locks.
STATE = ".argus-serve"
# Name, in a request, of the source that the service was started over.
SERVED = "served"


@dataclass(frozen=True)
class Workplace:
    """The folders that the service may read and write, and the source that it searches.

    Nothing outside `folders` is read or written for a request. index: PATH or PATH@STATE.
    retriever: as `--retriever` of every command names it. store: as `argus check` names it.
    encoder: of the questions of a store. chunks: the corpus whose texts a retriever's documents
    have, and where its chunks name their document. asking: how a retriever is asked. authority: the
    records that name the controlling documents. config: TOML of options that jobs have unless a
    request says otherwise, and the only place where encoders, models and addresses of jobs are
    named. results: folders of results by their name in a URL.
    """

    folders: tuple[Path, ...]
    index: str | None = None
    retriever: str | None = None
    store: str | None = None
    encoder: str | None = None
    chunks: ChunkedCorpus = field(default_factory=ChunkedCorpus)
    asking: AskingConfig | None = None
    authority: AuthoritySource | None = None
    config: Path | None = None
    results: Mapping[str, Path] = field(default_factory=dict, compare=False)

    @property
    def state(self) -> Path:
        """The folder that the service keeps its own files in."""
        return self.folders[0] / STATE

    @property
    def searches(self) -> str | None:
        """Name of the searched source, None where nothing is searched."""
        return self.asks or self.index

    @property
    def asks(self) -> str | None:
        """Name of the retriever or store that runs, None where only an index is served."""
        return self.retriever or self.store

    def results_in(self, folder: Path | None) -> Results:
        """Return the files and options that commands about a folder of results name.

        None: of the sources that the service was started over. Their outputs go to UNNAMED.
        """
        if folder is not None:
            return Results.of(folder)
        corpus = self.chunks.corpus
        own: ManifestSection = {
            "config": {"index": self.index, "retrievers": [self.asks] if self.asks else []},
            "inputs": {} if corpus is None else {"corpus": {"file": str(corpus)}},
            "encoder": {}, "invocation": invocation_of(UNNAMED),
        }  # fmt: skip
        return Results(UNNAMED, {"serve": own})

    def index_of(self, folder: Path | None) -> IndexSpec | None:
        """Return the index that a folder's pages search, None where there is none.

        The folder itself, else the workplace's, else one that a job built beside the results.
        """
        if folder is not None and (folder / INDEX_FILE).is_file():
            return IndexSpec(folder)
        if self.index is not None:
            return parse_index_spec(self.index)
        built = None if folder is None else Path(Results.of(folder).beside)
        return None if built is None or not self.holds(built / INDEX_FILE) else IndexSpec(built)

    @property
    def inputs(self) -> dict[str, Path]:
        """Files that the service itself reads, by their option. No job may write one."""
        named: dict[str, object] = {"corpus": self.chunks.corpus, "config": self.config}
        if self.authority is not None:
            named |= {name: getattr(self.authority, name) for name in ("records", "rules", "edges")}
        files = {name: Path(one) for name, one in named.items() if isinstance(one, str | Path)}
        return {name: file.resolve() for name, file in files.items() if file.is_file()}

    def served(self, kind: str) -> str | None:
        """Return the source that SERVED stands for in a request, None if there is none.

        kind: index, retriever (a store is one, too), store, encoder or corpus.
        """
        corpus = self.chunks.corpus
        named = {
            "index": self.index, "retriever": self.asks, "store": self.store,
            "encoder": self.encoder, "corpus": None if corpus is None else str(corpus),
        }  # fmt: skip
        return named[kind]

    def holds(self, path: Path) -> bool:
        """Return whether a file or folder is there, in one of the folders."""
        return path.exists() and self.contains(path)

    def contains(self, path: Path) -> bool:
        """Return whether a path, links followed, lies in one of the folders."""
        real = path.resolve()
        return any(real.is_relative_to(folder.resolve()) for folder in self.folders)


def open_workplace(
    folders: Sequence[Path],
    *,
    index: str | None = None,
    retriever: str | None = None,
    store: str | None = None,
    encoder: str | None = None,
    chunks: ChunkedCorpus | None = None,
    asking: AskingConfig | None = None,
    authority: AuthoritySource | None = None,
    config: Path | None = None,
) -> Workplace:
    """Return the workplace over some folders: of results, of an index, or of several of these.

    chunks: the corpus. Where no index is named, the first folder that is one is searched. Where no
    records are named, those count that a folder of results was audited with, if they lie
    in the folders. Raises InputError for a folder that is not there, or where there is nothing to
    serve.
    """
    if retriever is not None and store is not None:
        got, fix = "--retriever and --store", "Leave one of them out."
        raise InputError(got, expected="one thing to search", fix=fix, where="--store")
    if index is not None:
        read_header(parse_index_spec(index).path)
    for folder in folders:
        if not folder.is_dir():
            got = "is no folder" if folder.exists() else "no such folder"
            fix = "Make one, for example with `argus demo`."
            expected = "a folder of results, or an index"
            raise InputError(got, expected=expected, fix=fix, where=folder)
    places: list[Path] = []
    for folder in folders:  # itself, and those in it if it holds no results itself
        inside = [] if _holds_results(folder) else sorted(folder.iterdir())
        places += [folder, *(p for p in inside if p.is_dir() and not p.is_symlink())]
    results: dict[str, Path] = {}
    for place in filter(_holds_results, places):  # a number behind a name that comes again
        stem = place.resolve().name
        names = chain([stem], (f"{stem}-{number}" for number in count(2)))
        results[next(name for name in names if name not in results)] = place
    index = index or next((str(p) for p in places if (p / INDEX_FILE).is_file()), None)
    if not results and index is None and retriever is None and store is None:
        expected = "a folder with results (summary.json) or an index (index.json)"
        fix, where = "Run `argus demo`, or name an index with --index.", next(iter(folders), None)
        raise InputError("nothing to serve", expected=expected, fix=fix, where=where)
    workplace = Workplace(
        tuple(folders), index, retriever, store, encoder, chunks or ChunkedCorpus(), asking,
        authority, config, results,
    )  # fmt: skip
    return workplace if authority is not None else replace(workplace, authority=_audited(workplace))


def _audited(place: Workplace) -> AuthoritySource | None:
    """Return the records that a folder of results was audited with, if they lie in the folders.

    Nothing else is read for a manifest, which may be a stranger's. Files may have been moved with
    the results: the end of their path is looked for there.
    """
    for folder in place.results.values():
        manifest = ArtifactFolder(folder).read_json(MANIFEST)
        job = next((name for name in ("authority", "lint") if name in manifest), None)
        if job is None:
            continue
        files: dict[str, Path | None] = {}
        again = {"expected": "the file as Argus wrote it", "fix": WRITTEN}
        with reading(folder / MANIFEST, **again):
            for name, one in manifest[job]["inputs"].items():
                file = Path(one["file"])
                tails = (folder.joinpath(*file.parts[-n:]) for n in (1, 2, 3))
                files[name] = next(filter(place.holds, (file, *tails)), None)
        records = files.get("records") or files.get("corpus")
        edges, rules = files.get("edges"), files.get("rules")
        if rules is not None and is_own(str(rules)):  # code, and nobody but the manifest says so
            rules = None
        if records is not None and (edges or rules):
            return AuthoritySource(
                records=records, edges=edges, rules=None if rules is None else str(rules)
            )
    return None


def _holds_results(folder: Path) -> bool:
    return (folder / SUMMARY).is_file() and (folder / MANIFEST).is_file()
