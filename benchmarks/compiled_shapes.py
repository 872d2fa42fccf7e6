"""What the code that is compiled for each shape of a batch takes, by the two bounds on it.

Three layers of MiniLM's shapes, each over 350 batches of other lengths, in a process of its own for
each pair of bounds, in bfloat16 and in float32, where nothing is compiled so.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from argus.service.memory import CACHES, SHAPES

OWN = 1_024
"""What both keep where nothing is said."""
BOUNDS = ((OWN, OWN), (SHAPES, OWN), (OWN, SHAPES), (SHAPES, SHAPES), (8, 8))
CHILD = """
import json, re, sys, time
from pathlib import Path
import torch
from torch import nn

def resident():
    text = Path("/proc/self/status").read_text()
    return round(int(re.search(r"RssAnon:\\s+(\\d+)", text)[1]) / 1024)

dtype = getattr(torch, sys.argv[1])
torch.set_num_threads(1)
layers = [nn.Linear(*sizes).to(dtype) for sizes in ((384, 384), (384, 1536), (1536, 384))]
rows = {width: torch.randn(1400, width).to(dtype) for width in (384, 1536)}
before, since = resident(), time.process_time()
with torch.inference_mode():
    for n in range(1, 1400, 4):
        for layer in layers:
            layer(rows[layer.in_features][:n])
print(json.dumps({"before_mb": before, "after_mb": resident(),
                  "processor_s": round(time.process_time() - since, 1)}))
"""


def run() -> dict[str, Any]:
    rows = []
    for precision, bounds in [*(("bfloat16", b) for b in BOUNDS), ("float32", BOUNDS[0])]:
        variables = dict(zip(CACHES, map(str, bounds), strict=True))
        done = subprocess.run(
            [sys.executable, "-c", CHILD, precision], env=os.environ | variables,
            stdout=subprocess.PIPE, text=True, check=True,
        )  # fmt: skip
        rows.append({"precision": precision, **variables, **json.loads(done.stdout)})
        print(rows[-1], flush=True)
    return {"shapes": 350, "layers": 3, "rows": rows}
