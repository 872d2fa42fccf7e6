"""`argus generative convert`: a checkpoint of fairseq as a model of transformers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.groups import example
from argus.generative.fairseq.settings import ConvertConfig
from argus.settings import Doc, Option


@example(
    "argus generative convert fairseq/seal.pt --dict fairseq/dict.txt --bpe fairseq/ "
    "--out converted/"
)
@with_blocks
def convert(
    checkpoint: Annotated[Path, typer.Argument(help="The .pt file that fairseq wrote.")],
    *,
    dictionary: Annotated[
        Path, Doc("Its dict.txt: which row each token has."), Option(("--dict",))
    ],
    bpe: Annotated[
        Path,
        Doc("GPT-2's encoding: vocab.bpe, merges.txt or tokenizer.json, or a folder with one."),
    ],
    out: o.Out = Path("argus-out"),
    what: ConvertConfig,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Read a checkpoint of fairseq (SEAL's and MINDER's are) into the layout of transformers.

    Writes OUT/model, which build takes as --tokenizer and search as --model, with summary.json and
    manifest.json. The file is read without running anything in it; one that needs that is refused.
    """
    from argus.generative.fairseq.job import convert_fairseq

    result = convert_fairseq(
        checkpoint, dictionary=dictionary, bpe=bpe, out=out, config=what, fresh=fresh
    )
    build = o.command("generative", "build", "--corpus", "CORPUS", "--tokenizer", result.model)
    o.show(result, as_json=json, then=f"Next: {build}")
