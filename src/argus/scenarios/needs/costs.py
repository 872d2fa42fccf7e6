"""Cost of writing needs, before anything is asked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from argus.corpora import Corpus
from argus.data.fields import FieldNames
from argus.llm import Estimate, estimate
from argus.llm.ledger import ledger_to_read
from argus.scenarios.needs.config import NeedsConfig
from argus.scenarios.needs.drawing import draw_order
from argus.scenarios.needs.source import NeedSource
from argus.scenarios.needs.writing import prompts_of
from argus.scenarios.profile import Profiled
from argus.scenarios.profiles.config import ProfileConfig
from argus.scenarios.profiles.job import LEDGER
from argus.scenarios.schema import ProfileAnswer


def estimate_needs(
    corpus: Corpus,
    profiles: Path | str | Mapping[str, Profiled] | None,
    *,
    out: Path | str,
    config: NeedsConfig,
    model: ProfileConfig,
    fields: FieldNames | None = None,
    limit: int | None = None,
) -> Estimate:
    """Return prompts and cost of `audit_needs` for the drawn documents, asking nothing.

    With `config.until_width` that is the most: it may stop before. Further needs come on top, for
    the documents that only some of theirs find: one prompt for each.
    """
    source = NeedSource.read(corpus, profiles, fields or FieldNames(), limit, None, writes=True)
    documents = draw_order(source, config, writes=True)
    prompts = prompts_of(model, documents, source.profiles)
    with ledger_to_read(Path(out) / LEDGER) as ledger:
        return estimate(prompts, ledger, model.model, schema=ProfileAnswer)
