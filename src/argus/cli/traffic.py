"""`argus traffic`: what people really ask, and what nobody meets."""

from __future__ import annotations

from argus.cli import traffic_audit
from argus.cli.groups import Group

app = Group("What people really ask: argus traffic LOG is argus traffic audit LOG.", first="audit")
app.command()(traffic_audit.audit)
