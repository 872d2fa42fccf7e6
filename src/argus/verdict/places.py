"""The user's own paths, as the folder of results recorded them, for commands to copy."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from argus.data.manifest import ManifestSection
from argus.stores.spec import BLENDED, asks_store, is_store
from argus.verdict.project import Project

PREFIX = "sentence-transformers:"
"""Of the fingerprints of encoders that `--encoder` takes by their name."""
DEFAULT = "all-MiniLM-L6-v2"
INDEX_FILE = "index.json"


def command(*words: object) -> str:
    """Return a command of Argus as it would be typed."""
    return shlex.join(["argus", *map(str, words)])


@dataclass(frozen=True)
class Places:
    """What the jobs of a folder read, by name, else what argus.toml names.

    A word in capitals where neither does.
    """

    folder: Path
    manifest: dict[str, ManifestSection]
    project: Project = field(default_factory=Project)

    @property
    def out(self) -> str:
        """The folder of results."""
        return str(self.folder)

    @property
    def beside(self) -> str:
        """A folder for an index: where argus.toml has one built, or beside the results."""
        return self._set("out", "index.build", only=True) or str(self.folder / "index")

    @property
    def corpus(self) -> str:
        """The corpus: a file, or a store; one that `reach` read is a corpus if it keeps texts."""
        reached = self.store if self.store.partition(":")[0] != "faiss" else "STORE"
        own = self._input("corpus") or self._input("records")
        return own or (reached if reached != "STORE" else self._set("corpus") or "CORPUS")

    @property
    def records(self) -> str:
        """Records with types and times: those that were read, or the corpus if it is a file."""
        records = self._input("records") or self._set("records", "authority") or self.corpus
        return "RECORDS" if is_store(records) else records

    @property
    def store(self) -> str:
        """The store that was read, if one was."""
        if "reach" in self.manifest:
            return str(self.manifest["reach"]["config"].get("store", "STORE"))
        corpus = self._input("corpus") or ""
        return corpus if is_store(corpus) else self._set("store", "reach", only=True) or "STORE"

    @property
    def queries(self) -> str:
        """Judged questions."""
        named = self._input("queries") or self._set("queries", "evaluate")
        return named or self._beir("queries") or "QUERIES"

    @property
    def qrels(self) -> str:
        """Their judgements."""
        named = self._input("qrels") or self._set("qrels", "evaluate")
        return named or self._beir("qrels/test", ".tsv") or "QRELS"

    @property
    def profiles(self) -> str | None:
        """What documents would be needed for, written before."""
        return self._input("profiles") or self._set("profiles", "repair")

    @property
    def kb(self) -> str | None:
        """A knowledge base."""
        return self._input("kb 1") or self._set("kb", "repair")

    @property
    def log(self) -> str:
        """The log of questions that was read."""
        return self._input("log") or "LOG"

    @property
    def language_model(self) -> list[str]:
        """Options that name a language model to write scenarios."""
        model = self._set("model", "remedy.scenarios", "scenarios")
        if model is None:
            return ["--model", "MODEL", "--base-url", "URL"]
        url = self._set("base-url", "remedy.scenarios", only=True) or self._set("llm-base-url")
        return ["--model", model, *(["--base-url", url] if url else [])]

    @property
    def parent_field(self) -> str | None:
        """The field of a chunk that names its document, where a job or argus.toml says it."""
        fields = (section["config"].get("parent_field") for section in self.manifest.values())
        return next((str(field) for field in fields if field), None) or self._set("parent-field")

    @property
    def answering(self) -> list[str]:
        """Options that name what answers: the retriever that argus.toml names, and the corpus."""
        retriever = self.retriever or self._set("retriever")
        asking = [] if retriever is None else ["--retriever", retriever]
        encoder = self.encoder_of_store if retriever and asks_store(retriever) else []
        return [*asking, *encoder, "--corpus", self.corpus]

    @property
    def parents(self) -> list[str]:
        """Options that name the documents of chunks, where anything does."""
        return [] if self.parent_field is None else ["--parent-field", self.parent_field]

    @property
    def retriever(self) -> str | None:
        """The retriever that was asked, by its name; None where Argus searched itself."""
        for section in self.manifest.values():
            names = section["config"].get("retrievers")
            if isinstance(names, list) and names:
                return str(names[-1])
        return None

    @property
    def evaluating(self) -> str:
        """The command that asks judged questions; it makes an index where there is nothing."""
        asking = [*self.parents, *self._judged, "--out", self.out]
        if self.retriever is not None:
            return command("evaluate", *self.answering, *asking)
        if self.index is None and is_store(self.corpus):
            system = ["--retriever", self.corpus, *self.encoder_of_store, "--corpus", self.corpus]
            return command("evaluate", *system, *asking)
        asking = [*self._judged, "--out", self.out]
        evaluating = command("evaluate", "--index", self.index or self.beside, *asking)
        return evaluating if self.index else f"{self.indexing} && {evaluating}"

    @property
    def _judged(self) -> list[str]:
        return ["--queries", self.queries, "--qrels", self.qrels]

    def evaluating_blend(self, store: str, collection: str) -> str:
        """Return the command that asks a store judged questions, and the blend written into it."""
        systems = ["--retriever", store, "--retriever", f"{BLENDED}{collection}"]
        asking = [*self.encoder_of_store, "--corpus", store, *self.parents, *self._judged]
        return command("evaluate", *systems, *asking, "--out", f"{self.out}-judged")

    @property
    def blending(self) -> str:
        """The command that blends, where the documents live: in an index, a store, or a file."""
        if self.index is None and is_store(self.corpus):
            return command("remedy", "blend", "--store", self.corpus, *self.encoder_of_store)
        blending = command("remedy", "blend", "--index", self.index or self.beside)
        return blending if self.index else f"{self.indexing} && {blending}"

    @property
    def indexing(self) -> str:
        """The command that makes an index beside the results."""
        return command(
            "index", "build", "--corpus", self.corpus, *self.encoder, "--out", self.beside
        )

    @property
    def index(self) -> str | None:
        """The index that was measured or repaired; None where there was none."""
        if (self.folder / INDEX_FILE).is_file():
            return str(self.folder)
        for section in reversed(self.manifest.values()):
            config = section["config"]
            names = config.get("indexes")
            if isinstance(names, list) and names:
                return str(names[-1]).partition("@")[0]
            if isinstance(config.get("index"), str):
                return str(config["index"])
        named = self._set("out", "index.build", only=True)
        return named if named and (Path(named) / INDEX_FILE).is_file() else None

    @property
    def encoder(self) -> list[str]:
        """Options that name the encoder, where it is not the default."""
        for section in self.manifest.values():
            fingerprint = section["encoder"].get("fingerprint", "")
            if fingerprint.startswith(PREFIX):
                name = fingerprint.removeprefix(PREFIX).partition("@")[0].partition(" ")[0]
                return [] if name.rpartition("/")[2] == DEFAULT else ["--encoder", name]
        named = self._set("encoder")
        return [] if named is None else ["--encoder", named]

    @property
    def encoder_of_store(self) -> list[str]:
        """Options that name the encoder of a store's vectors, which it does not say itself."""
        known = any(s["encoder"].get("fingerprint", "").startswith(PREFIX)
                    for s in self.manifest.values())  # fmt: skip
        return self.encoder or ["--encoder", DEFAULT if known else "MODEL"]

    @property
    def rules(self) -> list[object]:
        """Options that say what supersedes what."""
        if edges := self._input("edges"):
            return ["--edges", edges]
        rules = self._input("rules") or self._set("rules", "authority")
        if rules is None and (edges := self._set("edges", "authority")):
            return ["--edges", edges]
        return ["--rules", rules or "RULES"]

    def _input(self, name: str) -> str | None:
        return next(self._inputs(name), None)

    def _inputs(self, name: str) -> Iterator[str]:
        for section in self.manifest.values():
            if name in section["inputs"]:
                yield section["inputs"][name]["file"]

    def _set(self, name: str, *commands: str, only: bool = False) -> str | None:
        """Return what argus.toml sets an option to, where it speaks of this corpus.

        only: of these commands alone, where others mean something else by the name.
        """
        if not self.project.is_of(self._input("corpus")):
            return None
        return self.project.value(name, *commands, only=only)

    def _beir(self, stem: str, ending: str = ".jsonl") -> str | None:
        """Return a file of the corpus' own folder, as BEIR collections have them."""
        path = Path(self.corpus).parent / f"{stem}{ending}"
        return str(path) if path.is_file() else None
