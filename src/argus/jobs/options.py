"""Declare the parameters that several jobs share, each with its command-line option and help line.

A job is the Python function behind a command. It annotates its arguments with these types, such as
`o.Corpus` for --corpus, and `argus.cli.signatures` makes the command's options from them. Settings
of one capability stand in its own config.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from argus.corpora import Corpus as AnyCorpus
from argus.data.fields import QrelsName
from argus.data.types import Qrels as AnyQrels
from argus.data.types import Query
from argus.encoders.config import EncoderConfig
from argus.engine import EngineConfig
from argus.llm.config import AnyModel
from argus.settings import ALONE, CORPUS, INDEX, OUTPUT, Doc, Ge, Option, Options

if TYPE_CHECKING:
    from typing import Self

    from argus.encoders.protocol import Encoder as AnyEncoder
    from argus.engine import Engine as AnyEngine
else:  # which load NumPy, and are nothing that a command line could give
    AnyEncoder = AnyEngine = Any

# Folder of results where none is named.
OUT = Path("argus-out")

Corpus = Annotated[
    AnyCorpus,
    Doc(
        "BEIR folder, knowledge base (argus research kb build), a JSONL, CSV, TSV or Parquet "
        "file, or a store (KIND:PLACE/COLLECTION)."
    ),
    Option(("--corpus",), is_name=True),
    CORPUS,
]
Out = Annotated[Path | str, Doc("Folder for the results."), Option(("--out",)), OUTPUT]
Encoder = Annotated[AnyEncoder | EncoderConfig | str, Options(EncoderConfig)]
NamedEncoder = AnyEncoder | EncoderConfig | str | None
"""An encoder that a command line can only name."""
_OF_INDEX = Doc("Default: the encoder that the index names.")
IndexEncoder = Annotated[NamedEncoder, _OF_INDEX, Option(("--encoder",))]
EncoderName = Annotated[str | None, _OF_INDEX, Option(("--encoder",))]
Engine = Annotated[AnyEngine | EngineConfig | None, Options(EngineConfig, optional=True)]
Store = Annotated[
    Path | None,
    Doc("Folder for vectors, to share between runs; default OUT/embeddings."),
    Option(("--cache",), panel="Encoder"),
]
Limit = Annotated[
    int | None, Ge(1), Doc("Only the first so many documents."), Option(("--limit",), panel="Input")
]
Fresh = Annotated[
    bool, Doc("Delete what OUT holds first, or go on with it."), Option(("--fresh/--resume",))
]
Queries = Annotated[
    Path | str | Sequence[Query], Doc("Queries (JSONL, CSV, TSV, Parquet, BEIR folder).")
]
Qrels = Annotated[
    Path | str | AnyQrels,
    Doc("Judgements (BEIR: query-id, corpus-id, score; or TREC)."),
    QrelsName(),
]
MaybeQueries = Annotated[
    Path | str | Sequence[Query] | None, Doc("Judged queries, which tell what it is worth.")
]
MaybeQrels = Annotated[Path | str | AnyQrels | None, Doc("Their judgements."), QrelsName()]
Excluded = Annotated[
    Path | str | Any | None,
    Doc("Rows of id and excluded_ids: what is taken out of a query's results first (BRIGHT)."),
]
IndexState = Annotated[
    Path | str,
    Doc("Index folder; PATH@STATE for an earlier one."),
    Option(("--index",), is_name=True),
    INDEX,
]
IndexOut = Annotated[Path | str, Doc("Folder for the index."), OUTPUT]
ProbeFolder = Annotated[
    Path | str | Any | None,
    Doc("Folder from argus research probe fit; default: what ships for the encoder."),
    Option(("--probe",)),
]
Estimate = Annotated[bool, Doc("Only say what would be asked and what it would cost."), ALONE]
AsJson = Annotated[bool, Doc("Print the summary as JSON."), Option(("--json",))]


@dataclass(frozen=True, kw_only=True)
class Models:
    """The model that answers, and the judge of its answers: None for the same model.

    The budget of the model is that of answers and judgements together.
    """

    model: AnyModel | None = None
    judge: AnyModel | None = None

    def by(self, model: AnyModel, judge: AnyModel | None) -> Self:
        """Return these settings with a model that answers and one that judges."""
        return replace(self, model=model, judge=judge)

    @property
    def answering(self) -> AnyModel:
        """The model that answers."""
        assert self.model is not None, "`by` gives it"
        return self.model

    @property
    def judging(self) -> AnyModel:
        """The model that judges."""
        return self.judge or self.answering

    def described(self) -> dict[str, object]:
        """Return the settings that change the outcome. No secret, no pace, no budget."""
        return vars(self) | {
            name: {"model": of.identity, "temperature": of.temperature, "extra": dict(of.extra)}
            for name, of in (("model", self.answering), ("judge", self.judging))
        }
