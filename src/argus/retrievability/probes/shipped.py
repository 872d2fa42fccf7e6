"""The probes that come with Argus, one folder per encoder and pooling under `defaults/`."""

from __future__ import annotations

import json
from pathlib import Path

from argus.errors import InputError
from argus.retrievability.audit.config import POOLING
from argus.retrievability.probes.persist import HEADER, load_probe
from argus.retrievability.probes.probe import Probe, same_encoder

DEFAULTS = Path(__file__).parent / "defaults"


def load_default(encoder_fingerprint: str, pooling: str = POOLING) -> Probe:
    """Return the shipped probe for an encoder and a pooling.

    Raises InputError, which says how to fit one, where none ships.
    """
    known = []
    for header in sorted(DEFAULTS.glob(f"*/*/{HEADER}")):
        facts = json.loads(header.read_text(encoding="utf-8"))
        if same_encoder(facts["fingerprint"], encoder_fingerprint) and facts["pooling"] == pooling:
            return load_probe(header.parent)
        known.append(f"{facts['fingerprint'].split(' ')[0]} ({facts['pooling']} pooling)")
    raise InputError(
        f"no probe ships for {encoder_fingerprint} with {pooling} pooling",
        expected=f"one of {'; '.join(known)}",
        fix=(
            f"Fit your own: argus research audit --encoder NAME --pooling {pooling} --out DIR, "
            f"then argus "
            "research probe fit --audit DIR, and give --probe DIR."
        ),
        where="--probe",
    )
