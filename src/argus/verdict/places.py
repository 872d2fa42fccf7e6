"""Name the inputs of the runs in a folder, and build the commands that follow them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from argus.commands import command, takes, words_of
from argus.data.folders import ManifestSection
from argus.data.reading import read_toml
from argus.errors import InputError
from argus.stores.spec import BLENDED, KINDS, asks_store, is_store

FILE = "argus.toml"
DEFAULT = "all-MiniLM-L6-v2"
INDEX_FILE = "index.json"
QUERIES = "QUERIES"
"""Stands for judged questions that nothing names."""
PLACES = frozenset({"--encoder", "--correction", "--store-ids"})
"""Options that may name a file or folder."""
ENCODER = "--encoder"
STORE_PREFIX = re.compile(rf"(?:{BLENDED})?(?:(?:{'|'.join(KINDS)}|http):(?!//))?")
MEMBER_SUFFIX = re.compile(r"[@:/][\w.-]+$")
"""A state of an index, a name in a module, or a collection, behind a path."""
Settings = Mapping[str, object]


@dataclass(frozen=True)
class Project:
    """The values of argus.toml. It has none where there is no such file, or it is no TOML."""

    settings: Settings = field(default_factory=dict)

    @classmethod
    def of(cls, file: Path = Path(FILE)) -> Project:
        """Read a file, by default that of the current folder. Paths in it are relative to there."""
        try:
            return cls(read_toml(file))
        except InputError:
            return cls()  # whoever names it with --config is told of the fault

    def value(self, name: str, *commands: str, only: bool = False) -> str | None:
        """Return the first text of an option: for these commands, for all, then for any other.

        commands: names with dots, such as "tune.try". only: not for any other, which may use the
        name for something else.
        """
        tables: list[object] = []
        for dotted in commands:
            table: object = self.settings
            for word in dotted.split("."):
                table = table.get(word) if isinstance(table, Mapping) else None
            tables.append(table)
        for table in (*tables, *([self.settings] if only else _nested(self.settings))):
            if isinstance(table, Mapping):
                value = table.get(name, table.get(name.replace("-", "_")))
                if isinstance(value, str) and value:
                    return value
        return None

    def is_of(self, corpus: str | None) -> bool:
        """Return whether it is about this corpus, as far as either is known."""
        own = self.value("corpus")
        if own is None or corpus is None or own == corpus:
            return True
        own_path, path = Path(own).resolve(), Path(corpus).resolve()
        return own_path in (path, path.parent)


def _nested(settings: Settings) -> Iterator[Settings]:
    """Yield a table, then every table in it."""
    yield settings
    for inner in settings.values():
        if isinstance(inner, Mapping):
            yield from _nested(inner)


@dataclass(frozen=True)
class Places:
    """Inputs of the jobs of a folder, else those that argus.toml names.

    A word in capitals, such as CORPUS, stands for an input that neither names.
    """

    folder: Path
    manifest: dict[str, ManifestSection]
    project: Project = field(default_factory=Project)

    @property
    def out(self) -> str:
        """The folder of results. Of records in a store, the one that argus.toml measures into."""
        measured = self._set("out", "check", only=True) if "written" in self.manifest else None
        return measured or str(self.folder)

    @property
    def beside(self) -> str:
        """A folder for an index: the one that argus.toml builds, or one beside the results."""
        return self._set("out", "index.build", only=True) or str(self.folder / "index")

    @property
    def corpus(self) -> str:
        """The corpus: a file or a store. A store that `reach` read is one if it keeps texts."""
        reached = self.store if self.store.partition(":")[0] != "faiss" else "STORE"
        own = self._input("corpus") or self._input("records")
        if own is None and self.retriever and is_store(self.retriever):
            own = self.retriever
        return own or (reached if reached != "STORE" else self._set("corpus") or "CORPUS")

    @property
    def records(self) -> str:
        """Records with types and times."""
        return self._named("records", "authority") or "RECORDS"

    @property
    def store(self) -> str:
        """The store that was read, if one was."""
        if "reach" in self.manifest:
            return self._from_here(str(self.manifest["reach"]["config"].get("store")), "reach")
        named = (self._input("corpus"), self.retriever)
        store = next((name for name in named if name and is_store(name)), None)
        return store or self._set("store", "check", only=True) or "STORE"

    @property
    def queries(self) -> str:
        """Judged questions."""
        return self._named("queries", "evaluate") or self._beir("queries.jsonl") or QUERIES

    @property
    def qrels(self) -> str:
        """Their judgements."""
        return self._named("qrels", "evaluate") or self._beir("qrels/test.tsv") or "QRELS"

    @property
    def profiles(self) -> str | None:
        """Scenarios that were written before."""
        return self._named("profiles", "tune.try")

    @property
    def kb(self) -> str | None:
        """A knowledge base."""
        return self._input("kb 1") or self._set("kb", "tune.try")

    @property
    def log(self) -> str:
        """The log of questions that was read, else the judged questions."""
        return self._input("log") or ("LOG" if self.queries == QUERIES else self.queries)

    @property
    def parent_field(self) -> str | None:
        """The field of a chunk that names its document, from a job or argus.toml."""
        fields = (section["config"].get("parent_field") for section in self.manifest.values())
        return next((str(field) for field in fields if field), None) or self._set("parent-field")

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
        own = {option for block in options.values() for option in block}
        for option, heading in takes(name).items():
            value = self._set(option.removeprefix("--"), name.replace(" ", "."))
            if heading and option not in own and value is not None:
                options.setdefault(heading, {})[option] = value
        return words_of({h: options.get(h, {}) for h in headings or options}, name)

    def _asking(self, name: str, *words: str) -> list[str]:
        """Return the words of a command that reads the corpus or asks its store."""
        options = self.options_of(name)
        if ENCODER not in options and any(asks_store(word) for word in words):
            has_default = any(section["encoder"] for section in self.manifest.values())
            options += [ENCODER, DEFAULT if has_default else "MODEL"]
        return [*name.split(), *words, *options]

    @property
    def answering(self) -> list[str]:
        """Options that name the retriever, if any, and the corpus."""
        retriever = self.retriever or self._set("retriever")
        asking = [] if retriever is None else ["--retriever", retriever]
        return [*asking, "--corpus", self.corpus]

    @property
    def retriever(self) -> str | None:
        """The retriever that was asked, by its name. None where Argus searched itself."""
        for job, section in self.manifest.items():
            names = section["config"].get("retrievers")
            if isinstance(names, list) and names:
                return self._from_here(str(names[-1]), job)
        return None

    @property
    def reaching(self) -> str:
        """The command that searches a store for its own records."""
        return command(
            "check", "--store", self.store, *self.options_of("check", "Store"), "--out", self.out
        )

    @property
    def exposing(self) -> str:
        """The command that searches for all documents by their own sentences."""
        asking = ["--corpus", self.corpus] if self.retriever is None else self.answering
        return command(*self._asking("check", *asking), "--out", self.out)

    @property
    def auditing_authority(self) -> str:
        """The command that finds superseded documents that still come first."""
        options = self.options_of("check", "Encoder")
        asking = ["--records", self.records, *self.rules, *options]
        return command("check", *asking, "--out", self.out)

    @property
    def auditing_traffic(self) -> str:
        """The command that asks the questions of a log, of an index without a retriever."""
        words, made = self.answering, ""
        if "--retriever" not in words:
            in_store = self.index is None and is_store(self.corpus)
            system = self.corpus if in_store else self.index or self.beside
            words = ["--retriever", system, *words]
            made = "" if in_store or self.index else f"{self.indexing} && "
        asking = self._asking("traffic audit", self.log, *words)
        return made + command(*asking, "--out", self.out)

    @property
    def judging_traffic(self) -> str:
        """The command that draws questions of a log to judge."""
        asking = ["--corpus", self.corpus, *self.options_of("traffic judge"), "--budget", "50"]
        judging = command("traffic", "judge", self.out, *asking, "--out", f"{self.out}-judged")
        return judging if "traffic" in self.manifest else f"{self.auditing_traffic} && {judging}"

    @property
    def evaluating(self) -> str:
        """The command that asks judged questions, of a new index where there is no system."""
        asking = ["--queries", self.queries, "--qrels", self.qrels, "--out", self.out]
        if self.retriever is not None:
            return command(*self._asking("evaluate", *self.answering), *asking)
        if self.index is None and is_store(self.corpus):
            system = ["--retriever", self.corpus, "--corpus", self.corpus]
            return command(*self._asking("evaluate", *system), *asking)
        chunks = ["--corpus", self.corpus, *self.options_of("evaluate", "Input", "Store")]
        options = chunks if chunks[2:] and self.corpus != "CORPUS" else []
        evaluating = command("evaluate", "--index", self.index or self.beside, *options, *asking)
        return evaluating if self.index else f"{self.indexing} && {evaluating}"

    @property
    def blending(self) -> str:
        """The command that blends the search of an index, a store, or a file."""
        if self.index is None and is_store(self.corpus):
            return command(*self._asking("tune apply blend", "--store", self.corpus))
        chunks = ["--corpus", self.corpus, *self.options_of("tune apply blend", "Input", "Store")]
        options = chunks if self.parent_field and self.corpus != "CORPUS" else []
        index = self.index or self.beside
        blending = command("tune", "apply", "blend", "--index", index, *options)
        return blending if self.index else f"{self.indexing} && {blending}"

    @property
    def indexing(self) -> str:
        """The command that builds an index beside the results."""
        return command(*self._asking("index build", "--corpus", self.corpus), "--out", self.beside)

    @property
    def indexing_again(self) -> str:
        """The command that builds the index of the folder again."""
        return command(*self._asking("index build", "--corpus", self.corpus), "--out", self.out)

    @property
    def serving_index(self) -> str:
        """The command that builds an index, and serves it with the results."""
        return f"{self.indexing} && {command('serve', self.out, self.beside)}"

    @property
    def serving_records(self) -> str:
        """The command that serves the results with the rules of supersession."""
        return command("serve", self.out, "--records", self.records, *self.rules)

    @property
    def index(self) -> str | None:
        """The index that was measured or repaired, if any."""
        if (self.folder / INDEX_FILE).is_file():
            return str(self.folder)
        for job, section in reversed(self.manifest.items()):
            names = section["config"].get("indexes") or [section["config"].get("index")]
            if isinstance(names, list) and isinstance(names[-1], str):
                return self._from_here(names[-1].partition("@")[0], job)
        named = self._set("out", "index.build", only=True)
        return named if named and (Path(named) / INDEX_FILE).is_file() else None

    @property
    def rules(self) -> list[object]:
        """Options that name the rules of supersession."""
        if edges := self._input("edges"):
            return ["--edges", edges]
        rules = self._input("rules") or self._set("rules", "authority")
        if rules is None and (edges := self._set("edges", "authority")):
            return ["--edges", edges]
        return ["--rules", rules or "RULES"]

    def _input(self, name: str) -> str | None:
        """Return the file of an input, from the first run that read it."""
        for job, section in self.manifest.items():
            if name in section["inputs"]:
                return self._from_here(section["inputs"][name]["file"], job)
        return None

    def _named(self, name: str, command: str) -> str | None:
        """Return the file of an input, else the one that argus.toml names for a command."""
        return self._input(name) or self._set(name, command)

    def _from_here(self, name: str, job: str) -> str:
        """Return a name that a job recorded, as the current folder has it.

        Paths are relative to the folder in which the job ran. Other names stay as they are.
        """
        run, here = self.manifest[job].get("invocation"), Path.cwd()
        if run is None or Path(run["directory"]) == here:
            return name
        prefix = STORE_PREFIX.match(name)
        start = prefix.end() if prefix else 0
        there = os.path.normpath(Path(run["directory"], name[start:]))
        if not any(Path(path).exists() for path in (there, MEMBER_SUFFIX.sub("", there))):
            return name
        shown = os.path.relpath(there) if Path(there).is_relative_to(here) else there
        return f"{name[:start]}{shown}"

    def _set(self, name: str, *commands: str, only: bool = False) -> str | None:
        """Return the value that argus.toml gives an option, if it is about this corpus.

        only: for these commands, since others use the name for something else.
        """
        if not self.project.is_of(self._input("corpus")):
            return None
        return self.project.value(name, *commands, only=only)

    def _beir(self, name: str) -> str | None:
        """Return a file beside the corpus, as in a BEIR collection."""
        path = Path(self.corpus).parent / name
        return str(path) if path.is_file() else None
