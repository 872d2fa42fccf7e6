"""Read a folder of results, find the inputs of its runs, and build the commands to run next.

`Results`: summary.json, manifest.json and argus.toml -> the corpus, index, retriever and judged
questions that earlier commands read, and command lines with them. `argus.verdict.verdict` and the
pages of `argus serve` suggest these.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from argus.commands import command, words_of
from argus.data.folders import SUMMARY, ArtifactFolder, ManifestSection, read_manifest, torn_jobs
from argus.data.reading import read_toml, reading
from argus.errors import InputError
from argus.stores.spec import asks_store, is_store

FILE = "argus.toml"
INDEX_FILE = "index.json"
# Stands for judged questions that nothing names.
QUERIES = "QUERIES"
# Options that may name a file or folder.
PLACES = frozenset({"--encoder", "--correction", "--store-ids"})
# A state of an index, a name in a module, or a collection, behind a path.
MEMBER = re.compile(r"[@:/][\w.-]+$")


@dataclass(frozen=True)
class Results:
    """Jobs of a folder, with the sections of its summary.json and the entries of its manifest.

    In commands a word in capitals, such as CORPUS, stands for an input that no run read.
    """

    folder: Path
    manifest: dict[str, ManifestSection]
    sections: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, folder: Path) -> Results:
        """Read a folder, without the jobs that were stopped while they wrote.

        A folder without results has no sections. Raises InputError where a file is damaged.
        """
        torn, of = torn_jobs(folder), ArtifactFolder(folder).read_json(SUMMARY)
        return cls(folder, read_manifest(folder), {job: of[job] for job in of if job not in torn})

    def reading(self) -> AbstractContextManager[None]:
        """Raise InputError for figures that are not as their job wrote them."""
        again = {"expected": "the file as Argus wrote it", "fix": "Run the job again."}
        return reading(self.folder / SUMMARY, "its figures cannot be read", **again)

    @cached_property
    def project(self) -> dict[str, Mapping[str, Any]]:
        """Tables of argus.toml of the current folder by command, if one of them writes here."""
        tables: dict[str, Any] = {}
        with suppress(InputError, AttributeError, TypeError):  # --config tells of a file's faults
            settings = read_toml(Path(FILE))
            for name in ("check", "index build", "evaluate", "tune apply blend"):
                table: Any = settings
                for word in name.split():
                    table = table.get(word, {})
                tables |= {name: table} if table else {}
            outs = {Path(table["out"]).resolve() for table in tables.values() if "out" in table}
            return tables if self.folder.resolve() in outs else {}
        return {}

    @property
    def out(self) -> str:
        """The folder of results. Records in a store have one of their own."""
        return f"{self.folder}-measured" if "written" in self.manifest else str(self.folder)

    @property
    def beside(self) -> str:
        """A folder for an index: the one that argus.toml builds, or one beside the results."""
        return str(self.project.get("index build", {}).get("out", self.folder / "index"))

    @property
    def corpus(self) -> str:
        """The corpus: a file or a store. A store that `reach` read is one if it keeps texts."""
        if own := self.input("corpus") or self.input("records"):
            return own
        store = self.store
        return "CORPUS" if store == "STORE" or store.startswith("faiss:") else store

    @property
    def store(self) -> str:
        """The store that was read, if one was."""
        if "reach" in self.manifest:
            return self._from_here(str(self.manifest["reach"]["config"].get("store")), "reach")
        named = (self.input("corpus"), self.retriever)
        return next((name for name in named if name and is_store(name)), "STORE")

    @property
    def queries(self) -> str:
        """Judged questions."""
        return self.input("queries") or self._beir("queries.jsonl") or QUERIES

    @property
    def qrels(self) -> str:
        """Their judgements."""
        return self.input("qrels") or self._beir("qrels/test.tsv") or "QRELS"

    @property
    def retriever(self) -> str | None:
        """The retriever that was asked, by its name. None where Argus searched itself."""
        for job, section in self.manifest.items():
            names = section["config"].get("retrievers")
            if isinstance(names, list) and names:
                return self._from_here(str(names[-1]), job)
        return None

    @property
    def index(self) -> str | None:
        """The index that was measured or repaired, if any."""
        for own in (str(self.folder), self.retriever):
            if own is not None and Path(own, INDEX_FILE).is_file():
                return own
        for job, section in reversed(self.manifest.items()):
            names = section["config"].get("indexes") or [section["config"].get("index")]
            if isinstance(names, list) and isinstance(names[-1], str):
                return self._from_here(names[-1].partition("@")[0], job)
        return self.beside if Path(self.beside, INDEX_FILE).is_file() else None

    @property
    def records(self) -> list[str]:
        """Options that name records with types and times, and the rules of supersession."""
        records = ["--records", self.input("records") or "RECORDS"]
        if edges := self.input("edges"):
            return [*records, "--edges", edges]
        return [*records, "--rules", self.input("rules") or "RULES"]

    def input(self, name: str) -> str | None:
        """Return the file of an input, from the first run that read it."""
        for job, section in self.manifest.items():
            if name in section["inputs"]:
                return self._from_here(section["inputs"][name]["file"], job)
        return None

    def options_of(self, name: str, *headings: str) -> list[str]:
        """Return the options that the runs were given, as far as another command takes them.

        headings: headings of the options in the help, such as "Input". By default all.
        """
        options: dict[str, dict[str, object]] = {"Input": {}, "Encoder": {}}
        for job, section in self.manifest.items():
            for heading, block in section.get("invocation", {}).get("options", {}).items():
                options.setdefault(heading, {}).update(block)
                for option in PLACES & block.keys():
                    options[heading][option] = self._from_here(str(block[option]), job)
        return words_of({h: options.get(h, {}) for h in headings or options}, name)

    def asking(self, name: str, *words: str, out: str | None = None) -> str:
        """Return a command that reads the corpus or asks its store."""
        options = self.options_of(name)
        if "--encoder" not in options and any(asks_store(word) for word in words):
            has_default = any(of["encoder"] for job, of in self.manifest.items() if job != "reach")
            options += ["--encoder", "all-MiniLM-L6-v2" if has_default else "MODEL"]
        return self._line(name, *words, *options, *([] if out is None else ["--out", out]))

    @property
    def reaching(self) -> str:
        """The command that searches a store for its own records."""
        options = self.options_of("check", "Store")
        return command("check", "--store", self.store, *options, "--out", self.out)

    @property
    def exposing(self) -> str:
        """The command that searches for all documents by their own sentences."""
        if self.index and (self.corpus == "CORPUS" or self.index == str(self.folder)):
            return self.asking("check", self.index, out=self.out)
        asking = [] if self.retriever is None else ["--retriever", self.retriever]
        return self.asking("check", *asking, "--corpus", self.corpus, out=self.out)

    @property
    def comparing(self) -> str:
        """The command that compares what is indexed with its sources."""
        index = self.index if self.corpus == "CORPUS" else None
        what = [self.corpus] if index is None else ["--retriever", index]
        drift: Any = self.manifest.get("drift", {"config": {}})
        sources = self.input("sources") or str(drift["config"].get("sources") or "SOURCES")
        return self.asking("check", *what, "--sources", sources, out=self.out)

    @property
    def auditing_authority(self) -> str:
        """The command that finds superseded documents that still come first."""
        encoder = self.options_of("check", "Encoder")
        return command("check", *self.records, *encoder, "--out", self.out)

    @property
    def auditing_traffic(self) -> str:
        """The command that asks the questions of a log."""
        judged = "LOG" if self.queries == QUERIES else self.queries
        return self._searching("traffic audit", self.input("log") or judged)

    @property
    def judging_traffic(self) -> str:
        """The command that draws questions of a log to judge."""
        asking = ["--corpus", self.corpus, *self.options_of("traffic judge"), "--budget", "50"]
        judging = command("traffic", "judge", self.out, *asking, "--out", f"{self.out}-judged")
        return judging if "traffic" in self.manifest else f"{self.auditing_traffic} && {judging}"

    @property
    def evaluating(self) -> str:
        """The command that asks judged questions."""
        return self._searching("evaluate", "--queries", self.queries, "--qrels", self.qrels)

    @property
    def blending(self) -> str:
        """The command that blends a search, or tries that and more where questions are judged."""
        if self.index is None and is_store(self.corpus):
            return self.asking("tune apply blend", "--store", self.corpus)
        judged = ["--queries", self.queries, "--qrels", self.qrels, "--only-try"]
        judged = judged if {QUERIES, "QRELS"}.isdisjoint(judged) else []
        name = "tune try" if judged else "tune apply blend"
        chunks = self.options_of(name, "Input", "Store")
        is_folded = "--parent-field" in chunks and self.corpus != "CORPUS"
        folding = ["--corpus", self.corpus, *chunks] if is_folded else []
        line = self._line(name, "--index", self.index or self.beside, *judged, *folding)
        return line if self.index else f"{self.indexing} && {line}"

    @property
    def indexing(self) -> str:
        """The command that builds an index beside the results."""
        return self.asking("index build", "--corpus", self.corpus, out=self.beside)

    def _searching(self, name: str, *words: str) -> str:
        """Return a command that asks the retriever, the store of the corpus, or else an index.

        An index knows its documents where the corpus is unknown.
        """
        in_store = self.index is None and is_store(self.corpus)
        own = self.retriever or (self.corpus if in_store else None)
        is_known = own in (None, self.index) and self.corpus == "CORPUS"
        corpus = [] if is_known else ["--corpus", self.corpus]
        system = own or self.index or self.beside
        line = self.asking(name, *words, "--retriever", system, *corpus, out=self.out)
        return line if own or self.index else f"{self.indexing} && {line}"

    def _line(self, name: str, *words: str) -> str:
        """Return a command with its options, or with argus.toml where that has a table for it."""
        return command(*name.split(), *(["--config", FILE] if name in self.project else words))

    def _from_here(self, name: str, job: str) -> str:
        """Return a name that a job recorded, as the current folder has it.

        Paths are relative to the folder in which the job ran, perhaps behind the kind of a store.
        Other names stay as they are.
        """
        run, here = self.manifest[job].get("invocation"), Path.cwd()
        if run is None or Path(run["directory"]) == here:
            return name
        for start in (0, *(colon.end() for colon in re.finditer(":", name))):
            there = Path(os.path.normpath(Path(run["directory"], name[start:])))
            if there.exists() or Path(run["directory"], MEMBER.sub("", name[start:])).exists():
                shown = there.relative_to(here) if there.is_relative_to(here) else there
                return f"{name[:start]}{shown}"
        return name

    def _beir(self, name: str) -> str | None:
        """Return a file beside the corpus, as in a BEIR collection."""
        path = Path(self.corpus).parent / name
        return str(path) if path.is_file() else None
