"""`argus authority`: what is superseded is not served."""

from __future__ import annotations

from argus.cli import (
    authority_audit,
    authority_gap,
    authority_generate,
    authority_harm,
    authority_lint,
    authority_propose,
    authority_score,
    authority_search,
    authority_stream,
)
from argus.cli.groups import Group

app = Group("Never serve a superseded document as current.")
app.command()(authority_lint.lint)
app.command()(authority_audit.audit)
app.command()(authority_search.search)
app.command()(authority_score.score)
app.command()(authority_stream.stream)
app.command()(authority_generate.generate)
app.command()(authority_gap.gap)
app.command()(authority_harm.harm)
app.command()(authority_propose.propose)
app.command()(authority_propose.accept)
app.command()(authority_propose.learn)
