"""Define how a cell of a published table is measured (a request), and measure CAR's benchmarks.

`research reproduce` reads a request from the recipe of a table. It first names its missing inputs
on this machine: nothing is downloaded. Requests of one kind with the same `run` are then measured
by one run of the job that has the figures. The other kinds are in `argus.suite.sources`.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from argus.authority.benchmarks.makers import MAKERS, make_benchmark
from argus.data.provenance import content_hash
from argus.encoders.config import DEFAULT_MODEL, EncoderConfig, as_config
from argus.suite.config import Suite
from argus.tasks.opening import TaskSpec, benchmark_of, parse_task_spec

if TYPE_CHECKING:
    from argus.authority.benchmarks.collection import Benchmark

# Files of a model in the hub's cache: its configuration, and weights in one of the others.
MODEL_FILES = (
    "config.json", "model.safetensors", "model.safetensors.index.json", "pytorch_model.bin",
    "pytorch_model.bin.index.json",
)  # fmt: skip
# Files of the thesis under DATA/thesis, each of 6,515 questions.
PUBLISHED = ("seal.json", "minder.json")


@dataclass(frozen=True)
class Place:
    """Folders and models to measure with.

    data, stdlib: folders of data sets, and of the standard library's documents. home: of one
    recipe. shared: of all, for results that take long. minutes: of training. suite: the grid
    of the recipe.
    """

    data: Path
    stdlib: Path
    home: Path
    shared: Path
    minutes: float
    suite: Suite | None = None

    def vectors(self, encoder: EncoderConfig | str) -> Path:
        """Return the folder of an encoder's vectors, another one for other prompts."""
        config = as_config(encoder)
        prompts = [p for p in (config.query_prompt, config.document_prompt) if p is not None]
        ending = f"-{content_hash(*prompts, size=4).hex()}" if prompts else ""
        return self.shared / "vectors" / (Path(config.model).name + ending)

    def named(self, text: str) -> str:
        """Return a text with DATA and OUT in place of the paths of these folders."""
        for name, folder in (("DATA", self.data), ("OUT", self.home.parent)):
            for path in (folder.resolve(), folder):
                text = re.sub(rf"(?<![\w./-]){re.escape(str(path))}(?=/| |$)", name, text)
        return text

    def write_stdlib(self, folder: Path) -> None:
        """Write the standard library's documents into a folder that is theirs and is empty."""
        from argus.knowledge.stdlib import standard_library, write_sample_corpus

        if folder == self.stdlib and not (folder / "corpus.jsonl").is_file():
            write_sample_corpus(folder, standard_library())

    def data_lacking(self, path: Path) -> str:
        """Return `path_lacking`. The standard library's documents are never lacking."""
        return "" if path == self.stdlib else path_lacking(path)

    @property
    def outputs(self) -> list[Path]:
        """The thesis' published outputs of SEAL and MINDER, if both are on this machine."""
        files = [self.data / "thesis" / name for name in PUBLISHED]
        return files if all(file.is_file() for file in files) else []

    @property
    def tokenizer(self) -> Path | None:
        """The folder of GPT-2's or BART's tokenizer, with which the thesis counts."""
        folder = self.data / "thesis" / "tokenizer"
        return folder if folder.is_dir() else None


def path_lacking(path: Path) -> str:
    """Return the outermost folder or file of a path that is not here, or an empty text."""
    absent = next((part for part in (*reversed(path.parents), path) if not part.exists()), None)
    return "" if absent is None else f"{absent} is not here"


def model_lacking(model: str) -> str:
    """Return a note that a model is not on this machine, or an empty text."""
    if Path(model).is_dir() or EncoderConfig(model=model).is_packaged:
        return ""
    from huggingface_hub import try_to_load_from_cache

    name = model if "/" in model else f"sentence-transformers/{model}"
    there = (isinstance(try_to_load_from_cache(name, file), str) for file in MODEL_FILES)
    return "" if next(there) and any(there) else f"the model {model} is not on this machine"


def run_name(run: str) -> str:
    """Return a name for the folder of a run."""
    return content_hash(run, size=4).hex()


@dataclass(frozen=True, kw_only=True)
class Measured(ABC):
    """A figure that a job measures. A kind's fields without defaults ask for it in a recipe.

    varies: fields in which the requests of one run of the job differ. none: why a value is None.
    """

    varies: ClassVar[tuple[str, ...]] = ()
    none: ClassVar[str] = "there is nothing to make it of"

    @property
    def run(self) -> str:
        """The run of the job that has the figure."""
        blank = {f.name: "" if f.default is MISSING else f.default for f in fields(self)}
        return repr(replace(self, **{name: blank[name] for name in self.varies}))

    @property
    def is_sure(self) -> bool:
        """True if it always has a figure where it lacks nothing."""
        return True

    def lacking(self, place: Place) -> Iterator[str]:
        """Yield its missing inputs. Empty texts do not count."""
        yield ""

    @classmethod
    @abstractmethod
    def compute(cls, requests: Sequence[Self], place: Place) -> Figures:
        """Return the figures of requests of one run that lack nothing. May raise ArgusError."""


# By request: a value, the reason why there is none, or the failure.
Figures = dict[Any, float | str | Exception | None]


@dataclass(frozen=True, kw_only=True)
class BenchmarkRequest(Measured):
    """A figure of a benchmark of CAR.

    benchmark: a name, or a folder. released: car:FILE of the released one, measured instead where
    that file is here.
    """

    benchmark: str
    released: str = ""

    def lacking(self, place: Place) -> Iterator[str]:
        """See `Measured.lacking`."""
        if not self.source and self.benchmark not in MAKERS:
            yield path_lacking(Path(self.benchmark))

    def open(self) -> Benchmark | str:
        """Return the benchmark as jobs take it. Raises InputError for a bad released file."""
        return self.benchmark if self.source is None else benchmark_of(str(self.source))

    @property
    def source(self) -> TaskSpec | None:
        """The released file to measure, with its questions, or None to use another."""
        if not self.released:
            return None
        spec = parse_task_spec(self.released)
        return spec if all(file.is_file() for file in _files(spec)) else None


def _files(spec: TaskSpec) -> list[Path]:
    queries = spec.settings.get("queries")
    return [spec.place, *([Path(queries)] if queries else [])]


def which_measured(requests: Iterable[BenchmarkRequest]) -> Iterator[str]:
    """Yield a note for each released file in requests: it is measured, or another source is."""
    for request in {(r.released, r.benchmark): r for r in requests if r.released}.values():
        if request.source is not None:
            place = request.source.place
            yield f"Measured is the released {place}, without distractors: none were released."
            continue
        absent = next(filter(None, map(path_lacking, _files(parse_task_spec(request.released)))))
        made = " as made here" if request.benchmark in MAKERS else ""
        if made or not path_lacking(Path(request.benchmark)):
            yield f"Measured is {request.benchmark}{made} ({absent})."


@dataclass(frozen=True, kw_only=True)
class AuthorityRequest(BenchmarkRequest):
    """A share that `argus research authority score` prints of a system on a benchmark.

    share: as the summary calls it: tca, controlling_hit, ... percent: in percent. hop: of questions
    of this type alone. contaminated: the variant with distractors in scope. hint: questions that
    name product or party. queries: another file of questions. The last three are of `benchmark`: a
    released file is measured as it is.
    """

    system: str
    share: str = "tca"
    percent: bool = False
    k: int = 5
    hop: str = ""
    contaminated: bool = False
    hint: bool = False
    queries: str = ""
    encoder: str = DEFAULT_MODEL
    varies = ("system", "share", "hop", "percent")
    none = "it applies to no question"

    def lacking(self, place: Place) -> Iterator[str]:
        """See `Measured.lacking`."""
        from argus.authority.benchmarks.systems import SYSTEMS

        yield from super().lacking(place)
        if SYSTEMS[self.system].dense:
            yield model_lacking(self.encoder)

    def open(self) -> Benchmark | str:
        """See `BenchmarkRequest.open`."""
        if self.source is None and self.benchmark in MAKERS:
            return make_benchmark(self.benchmark, 0, self.contaminated, self.hint)
        return super().open()

    @classmethod
    def compute(cls, requests: Sequence[Self], place: Place) -> Figures:
        """See `Measured.compute`."""
        from argus.authority.benchmarks.job import score_systems
        from argus.authority.benchmarks.systems import SYSTEMS
        from argus.authority.config import ScoreConfig

        first, systems = requests[0], tuple(dict.fromkeys(r.system for r in requests))
        summary = score_systems(
            first.open(), out=place.home / f"scoring-{run_name(first.run)}",
            queries=None if first.source else first.queries or None,
            encoder=first.encoder if any(SYSTEMS[name].dense for name in systems) else None,
            config=ScoreConfig(k=first.k, systems=systems), store=place.vectors(first.encoder),
        ).summary  # fmt: skip
        by_name: dict[str, Any] = {system["name"]: system for system in summary["systems"]}
        figures: Figures = {}
        for request in requests:
            system = by_name[request.system]
            shares = system["hops"].get(request.hop, {}) if request.hop else system["overall"]
            share, factor = shares.get(request.share), 100 if request.percent else 1
            figures[request] = None if share is None else share["value"] * factor
        return figures


@dataclass(frozen=True, kw_only=True)
class GapRequest(BenchmarkRequest):
    """A figure of `research authority gap`: of one side, or the share of questions that have a gap.

    gap: the measure: Jaccard, Jaccard (no stop words), or BM25. side: superseded or controlling
    documents. positive: the share of positive gaps, in percent. queries: another file of questions.
    """

    gap: str
    side: str = "superseded"
    positive: bool = False
    queries: str = ""
    varies = ("gap", "side", "positive")
    none = "no question"

    def lacking(self, place: Place) -> Iterator[str]:
        """See `Measured.lacking`."""
        if self.positive and self.side == "controlling":
            yield "a share of questions, under the other column"
        yield from super().lacking(place)

    @classmethod
    def compute(cls, requests: Sequence[Self], place: Place) -> Figures:
        """See `Measured.compute`."""
        from argus.authority.benchmarks.job import vocabulary_gap

        first = requests[0]
        queries = None if first.source else first.queries or None
        measures: Any = vocabulary_gap(first.open(), queries=queries)["measures"]
        rows = {row["measure"]: row for row in measures}
        figures: Figures = {}
        for request in requests:
            row = rows[request.gap]
            share = row["positive"] and 100 * row["positive"]["value"]
            figures[request] = share if request.positive else row[request.side]
        return figures
