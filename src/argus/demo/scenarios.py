"""The demo's scenarios: what the standard library's entities would be needed for."""

from __future__ import annotations

from dataclasses import dataclass

from argus.data.artifacts import ArtifactFolder
from argus.encoders import EncoderConfig
from argus.scenarios.ablation.config import AblateConfig
from argus.scenarios.ablation.job import AblateResult, ablate_scenarios
from argus.scenarios.files import read_profiles
from argus.scenarios.profile import Component
from argus.scenarios.profiles.index import ScenariosResult, add_scenarios


@dataclass(frozen=True)
class DemoScenarios:
    """The scenarios in the demo's index, and what they do to its questions."""

    added: ScenariosResult
    """`--lambda` weighs them in every search of that index; `rollback` takes them out."""
    ablation: AblateResult


def add_and_ablate(folder: ArtifactFolder, encoder: EncoderConfig | str) -> DemoScenarios:
    """Measure the shipped scenarios on documents as they are, then add them to the demo's index.

    The ablation knows nothing of the repair: its documents have one view, their own text.
    """
    corpus = folder / "corpus"
    ablation = ablate_scenarios(
        corpus,
        corpus / "profiles.jsonl",
        corpus,
        corpus / "qrels" / "test.tsv",
        out=folder.path,
        encoder=encoder,
        expansions=corpus / "expansions.jsonl",
        config=AblateConfig(components=(Component.ME,)),
    )
    scenarios = add_scenarios(
        folder.path, read_profiles(corpus / "profiles.jsonl"), encoder=encoder
    )
    return DemoScenarios(scenarios, ablation)
