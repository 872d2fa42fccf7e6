"""Commands for the user to copy, of what the runs in a folder of results recorded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from argus.commands import command, takes, words_of
from argus.data.manifest import ManifestSection
from argus.stores.spec import BLENDED, asks_store, is_store
from argus.verdict.moved import from_here
from argus.verdict.project import Project

PREFIX = "sentence-transformers:"
"""Of the fingerprints of encoders that `--encoder` takes by their name."""
DEFAULT = "all-MiniLM-L6-v2"
INDEX_FILE = "index.json"
QUERIES = "QUERIES"
"""In place of judged questions that nothing names."""
PLACES = frozenset({"--encoder", "--correction", "--store-ids"})
"""Options that may name a file or folder."""
PARENT, ENCODER = "--parent-field", "--encoder"


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
        """The folder of results; of records in a store, where argus.toml has it measured."""
        measured = self._set("out", "exposure", only=True) if "written" in self.manifest else None
        return measured or str(self.folder)

    @property
    def beside(self) -> str:
        """A folder for an index: where argus.toml has one built, or beside the results."""
        return self._set("out", "index.build", only=True) or str(self.folder / "index")

    @property
    def corpus(self) -> str:
        """The corpus: a file, or a store; one that `reach` read is a corpus if it keeps texts."""
        reached = self.store if self.store.partition(":")[0] != "faiss" else "STORE"
        own = self._input("corpus") or self._input("records")
        if own is None and self.retriever and is_store(self.retriever):
            own = self.retriever
        return own or (reached if reached != "STORE" else self._set("corpus") or "CORPUS")

    @property
    def records(self) -> str:
        """Records with types and times: those that were read."""
        return self._input("records") or self._set("records", "authority") or "RECORDS"

    @property
    def store(self) -> str:
        """The store that was read, if one was."""
        if "reach" in self.manifest:
            return self._from_here(str(self.manifest["reach"]["config"].get("store")), "reach")
        named = (self._input("corpus"), self.retriever)
        store = next((name for name in named if name and is_store(name)), None)
        return store or self._set("store", "reach", only=True) or "STORE"

    @property
    def queries(self) -> str:
        """Judged questions."""
        named = self._input("queries") or self._set("queries", "evaluate")
        return named or self._beir("queries") or QUERIES

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
        """The log of questions that was read; else questions that are known, which are one, too."""
        return self._input("log") or ("LOG" if self.queries == QUERIES else self.queries)

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

    def options_of(self, name: str, *headings: str) -> list[str]:
        """Return what the runs were told of what they read and ask, as far as a command takes it.

        headings: of these options alone, such as "Input"; default: of all.
        """
        options: dict[str, dict[str, object]] = {"Input": {}, "Encoder": {}}
        if self.parent_field is not None:
            options["Input"][PARENT] = self.parent_field
        if self.encoder is not None:
            options["Encoder"][ENCODER] = self.encoder
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

    def _telling(self, name: str, *words: str) -> list[str]:
        """Return the words of a command that reads the corpus, or asks its store."""
        options = self.options_of(name)
        if ENCODER not in options and any(asks_store(word) for word in words):
            options += [ENCODER, DEFAULT if self._knows_encoder else "MODEL"]
        return [*name.split(), *words, *options]

    @property
    def answering(self) -> list[str]:
        """Options that name what answers: the retriever that argus.toml names, and the corpus."""
        retriever = self.retriever or self._set("retriever")
        asking = [] if retriever is None else ["--retriever", retriever]
        return [*asking, "--corpus", self.corpus]

    @property
    def retriever(self) -> str | None:
        """The retriever that was asked, by its name; None where Argus searched itself."""
        for job, section in self.manifest.items():
            names = section["config"].get("retrievers")
            if isinstance(names, list) and names:
                return self._from_here(str(names[-1]), job)
        return None

    @property
    def reaching(self) -> str:
        """The command that asks a store for its own records."""
        return command("reach", self.store, *self.options_of("reach", "Store"), "--out", self.out)

    @property
    def exposing(self) -> str:
        """The command that asks for all documents by their own sentences."""
        asking = ["--corpus", self.corpus] if self.retriever is None else self.answering
        return command(*self._telling("exposure", *asking), "--out", self.out)

    @property
    def auditing_authority(self) -> str:
        """The command that tells what is superseded, and still comes first."""
        options = self.options_of("authority audit", "Encoder")
        return command(
            "authority",
            "audit",
            "--records",
            self.records,
            *self.rules,
            *options,
            "--out",
            self.out,
        )

    @property
    def auditing_traffic(self) -> str:
        """The command that asks the questions of a log; of an index, where nothing else answers."""
        words, made = self.answering, ""
        if "--retriever" not in words:
            in_store = self.index is None and is_store(self.corpus)
            system = self.corpus if in_store else self.index or self.beside
            words = ["--retriever", system, *words]
            made = "" if in_store or self.index else f"{self.indexing} && "
        asking = self._telling("traffic audit", self.log, *words)
        return made + command(*asking, "--out", self.out)

    @property
    def judging_traffic(self) -> str:
        """The command that draws a few questions of a log to be judged."""
        asking = ["--corpus", self.corpus, *self.options_of("traffic judge"), "--budget", "50"]
        judging = command("traffic", "judge", self.out, *asking, "--out", f"{self.out}-judged")
        return judging if "traffic" in self.manifest else f"{self.auditing_traffic} && {judging}"

    @property
    def evaluating(self) -> str:
        """The command that asks judged questions; it makes an index where there is nothing."""
        asking = [*self._judged, "--out", self.out]
        if self.retriever is not None:
            return command(*self._telling("evaluate", *self.answering), *asking)
        if self.index is None and is_store(self.corpus):
            system = ["--retriever", self.corpus, "--corpus", self.corpus]
            return command(*self._telling("evaluate", *system), *asking)
        chunks = ["--corpus", self.corpus, *self.options_of("evaluate", "Input", "Store")]
        options = chunks if chunks[2:] and self.corpus != "CORPUS" else []
        evaluating = command("evaluate", "--index", self.index or self.beside, *options, *asking)
        return evaluating if self.index else f"{self.indexing} && {evaluating}"

    @property
    def _judged(self) -> list[str]:
        return ["--queries", self.queries, "--qrels", self.qrels]

    def evaluating_blend(self, store: str, collection: str) -> str:
        """Return the command that asks a store judged questions, and the blend written into it."""
        systems = ["--retriever", store, "--retriever", f"{BLENDED}{collection}"]
        asking = self._telling("evaluate", *systems, "--corpus", store)
        return command(*asking, *self._judged, "--out", f"{self.out}-judged")

    @property
    def blending(self) -> str:
        """The command that blends, where the documents live: in an index, a store, or a file."""
        if self.index is None and is_store(self.corpus):
            return command(*self._telling("remedy blend", "--store", self.corpus))
        blending = self._blending_index(self.index or self.beside)
        return blending if self.index else f"{self.indexing} && {blending}"

    @property
    def blending_beside(self) -> str:
        """The command that makes an index beside the results, and blends in it."""
        return f"{self.indexing} && {self._blending_index(self.beside)}"

    def _blending_index(self, index: str) -> str:
        chunks = ["--corpus", self.corpus, *self.options_of("remedy blend", "Input", "Store")]
        options = chunks if self.parent_field and self.corpus != "CORPUS" else []
        return command("remedy", "blend", "--index", index, *options)

    @property
    def indexing(self) -> str:
        """The command that makes an index beside the results."""
        return self._indexing_into(self.beside)

    @property
    def indexing_again(self) -> str:
        """The command that makes the index of the folder anew."""
        return self._indexing_into(self.out)

    def _indexing_into(self, out: str) -> str:
        return command(*self._telling("index build", "--corpus", self.corpus), "--out", out)

    @property
    def serving_index(self) -> str:
        """The command that makes an index, and a page over it and the results."""
        return f"{self.indexing} && {command('serve', self.out, self.beside)}"

    @property
    def serving_records(self) -> str:
        """The command that makes a page which knows what supersedes what."""
        return command("serve", self.out, "--records", self.records, *self.rules)

    @property
    def auditing(self) -> str:
        """The command that tells how reachable entities are."""
        asking = ["--corpus", self.corpus, *self.options_of("audit"), "--relations", "RELATIONS"]
        return command("audit", *asking, "--out", self.out)

    @property
    def estimating_scenarios(self) -> str:
        """The command that tells what it costs to write what documents are needed for."""
        where = ["--index", self.index] if self.index else ["--corpus", self.corpus]
        options = [] if self.index else self.options_of("remedy scenarios", "Input", "Store")
        return command("remedy", "scenarios", *where, *options, *self.language_model, "--estimate")

    @property
    def index(self) -> str | None:
        """The index that was measured or repaired; None where there was none."""
        if (self.folder / INDEX_FILE).is_file():
            return str(self.folder)
        for job, section in reversed(self.manifest.items()):
            names = section["config"].get("indexes") or [section["config"].get("index")]
            if isinstance(names, list) and isinstance(names[-1], str):
                return self._from_here(names[-1].partition("@")[0], job)
        named = self._set("out", "index.build", only=True)
        return named if named and (Path(named) / INDEX_FILE).is_file() else None

    @property
    def encoder(self) -> str | None:
        """The encoder, where it is not the default."""
        for section in self.manifest.values():
            fingerprint = section["encoder"].get("fingerprint", "")
            if fingerprint.startswith(PREFIX):
                name = fingerprint.removeprefix(PREFIX).partition("@")[0].partition(" ")[0]
                return None if name.rpartition("/")[2] == DEFAULT else name
        return self._set("encoder")

    @property
    def _knows_encoder(self) -> bool:
        return any(
            section["encoder"].get("fingerprint", "").startswith(PREFIX)
            for section in self.manifest.values()
        )

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
        for job, section in self.manifest.items():
            if name in section["inputs"]:
                yield self._from_here(section["inputs"][name]["file"], job)

    def _from_here(self, name: str, job: str) -> str:
        """Return a name that a job recorded as it is valid from the current folder."""
        return from_here(name, self.folder, self.manifest[job].get("invocation"))

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
