"""The file of pseudo-queries beside a corpus."""

from __future__ import annotations

FILE = "expansions.jsonl"
