"""The bound on compiled code is set before PyTorch is loaded, and a person's own value counts."""

import os
import re
import subprocess
import sys
from contextlib import suppress

import httpx
import pytest

from argus.service.config import CACHES, SHAPES

LOOKED_AT = f"""
import os, sys
class Look:
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            print("torch", *(os.environ.get(variable) for variable in {CACHES!r}), flush=True)
            os._exit(0)
sys.meta_path.insert(0, Look())
from argus.cli.main import main
main()
"""


@pytest.mark.parametrize("own", ["", "7"])
def test_serve_bounds_what_is_compiled_before_torch_is_loaded(story, own):
    chosen = {CACHES[0]: own} if own else {}
    with subprocess.Popen(
        [sys.executable, "-c", LOOKED_AT, "serve", str(story), "--port", "0"],
        stdout=subprocess.PIPE, text=True,
        env={name: v for name, v in os.environ.items() if name not in CACHES} | chosen,
    ) as process:  # fmt: skip
        line = process.stdout.readline()
        if url := re.search(r"http://\S+", line):
            with suppress(httpx.TransportError):  # asked, it opens its encoder, and ends here
                httpx.get(f"{url[0]}readyz", timeout=60)
            line = process.stdout.read()
    assert line.split() == ["torch", own or str(SHAPES), str(SHAPES)]
