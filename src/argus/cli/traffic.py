"""`argus traffic`: what people really ask, how often it fails, and what nobody meets."""

from __future__ import annotations

from argus.cli import traffic_audit, traffic_judge
from argus.cli.groups import Group

app = Group("What people really ask: argus traffic LOG is argus traffic audit LOG.", first="audit")
app.command()(traffic_audit.audit)
app.command()(traffic_judge.judge)
