"""Apply the remedies of a suite: one class per kind, with its settings and the job that it runs.

Called for each cell of `argus research suite`. `apply` changes an index that a suite builds for one
task, by a job of `argus tune apply`. `serve` changes the answers of any retriever instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from argus.authority.config import CHAINS, Chains
from argus.data.types import Run
from argus.encoders import Encoder
from argus.errors import NothingToMend
from argus.indexes.blend import Blend, Weight
from argus.llm.config import ChatConfig
from argus.remedies.config import (
    TAU,
    ExpandConfig,
    ReferenceConfig,
    SentenceSettings,
    SynthesizeSettings,
    Tau,
)  # fmt: skip
from argus.scenarios.profile import COMPONENT
from argus.settings import Ge, check_settings
from argus.suite.config import ORIGINAL
from argus.tasks.task import Task


@dataclass(frozen=True, kw_only=True)
class Remedy:
    """A remedy that changes nothing: the original. Others are its subclasses.

    paths: settings that name files to read. needs: settings that must be given.
    """

    paths: ClassVar[tuple[str, ...]] = ()
    needs: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        check_settings(self)

    def apply(self, index: Path, encoder: Encoder) -> None:
        """Add it to an index. Raises NothingToMend if it would change nothing."""

    def serve(self, task: Task, run: Run, depth: int) -> Run:
        """Return a task's answers as it changes them. Raises NothingToMend like `apply`."""
        return run


@dataclass(frozen=True, kw_only=True)
class BlendRemedy(Remedy):
    """Blend similarities of words and sentences into the search."""

    blend: Blend
    sentences: SentenceSettings

    def apply(self, index: Path, encoder: Encoder) -> None:
        """See `Remedy.apply`."""
        from argus.remedies.blend import blend_index

        blend_index(index, self.blend, sentences=self.sentences, encoder=encoder)


@dataclass(frozen=True, kw_only=True)
class _KnowledgeRemedy(Remedy):
    """Add knowledge about entities at risk. A probe ships for the default encoder only.

    Attributes:
        probe: Folder from argus research probe fit.
    """

    reference: ReferenceConfig
    probe: Path | None = None
    tau: Tau = TAU
    paths = ("kb", "probe")
    needs = ("kb",)


@dataclass(frozen=True, kw_only=True)
class ExpandRemedy(_KnowledgeRemedy):
    """Index documents with descriptions of their entities at risk."""

    config: ExpandConfig

    def apply(self, index: Path, encoder: Encoder) -> None:
        """See `Remedy.apply`."""
        from argus.remedies.expansion import expand_index

        expand_index(
            index, reference=self.reference, config=self.config, probe=self.probe,
            encoder=encoder, tau=self.tau,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class SynthesizeRemedy(_KnowledgeRemedy):
    """Index texts about entities at risk. model: writes them; None: the knowledge base's texts."""

    settings: SynthesizeSettings
    model: ChatConfig | None = None

    def apply(self, index: Path, encoder: Encoder) -> None:
        """See `Remedy.apply`."""
        from argus.remedies.synthesis import synthesize_index

        synthesize_index(
            index, reference=self.reference, config=self.settings.by(self.model),
            probe=self.probe, encoder=encoder, tau=self.tau,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ScenariosRemedy(Remedy):
    """Index scenarios in which documents are needed. component: also `auto`.

    Attributes:
        profiles: Profiles of documents (argus research scenarios write).
        component: M, I, E, M+E, I+E, or auto.
    """

    profiles: Path
    component: str = str(COMPONENT)
    weight: Weight = None
    paths = ("profiles",)
    needs = ("profiles",)

    def apply(self, index: Path, encoder: Encoder) -> None:
        """See `Remedy.apply`."""
        from argus.scenarios.config import AUTO
        from argus.scenarios.profile import component
        from argus.scenarios.remedy import add_scenarios

        add_scenarios(
            index, self.profiles, encoder=encoder, weight=self.weight,
            component=AUTO if self.component == AUTO else component(self.component),
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class OwnRemedy(Remedy):
    """Index the texts that code of the user gives to documents.

    Attributes:
        file: FILE.py:NAME, a function of documents (argus.remedies.texts).
    """

    file: str
    paths = ("file",)
    needs = ("file",)

    def apply(self, index: Path, encoder: Encoder) -> None:
        """See `Remedy.apply`."""
        from argus.remedies.texts import add_texts

        add_texts(index, self.file, encoder=encoder)


@dataclass(frozen=True, kw_only=True)
class AuthorityRemedy(Remedy):
    """Serve the documents that control the results, by the task's relation (CAR, two stages).

    Attributes:
        anchors: Results that are looked at.
        chains: Which chains of one scope are served.
    """

    anchors: Annotated[int | None, Ge(1)] = None
    chains: Chains = CHAINS

    def serve(self, task: Task, run: Run, depth: int) -> Run:
        """See `Remedy.serve`."""
        from argus.authority.benchmarks.judging import pipeline_relation
        from argus.authority.resolution import resolve

        if task.benchmark is None:
            raise NothingToMend("the task says of no document what supersedes it")
        return resolve(
            run, pipeline_relation(task.benchmark), k=depth, anchors=self.anchors,
            chains=Chains(self.chains),
        )  # fmt: skip


# Kinds of remedies by their name in a TOML file.
REMEDIES: dict[str, type[Remedy]] = {
    ORIGINAL: Remedy, "blend": BlendRemedy, "expand": ExpandRemedy,
    "synthesize": SynthesizeRemedy, "scenarios": ScenariosRemedy, "own": OwnRemedy,
    "authority": AuthorityRemedy,
}  # fmt: skip
