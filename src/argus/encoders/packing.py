"""Keep bfloat16 weights in the layout that the processor's matrix routines want.

Without this, oneDNN rearranges every weight in every call. The operators used are those that
torch.compile emits when it freezes a model; they are not a documented interface, so each layer is
checked against what it replaces and left alone if they are missing or disagree.
"""

from __future__ import annotations

import torch
from torch import nn

_TOLERANCE = 0.05


class PackedLinear(nn.Module):
    """A linear layer, inference only, with its weight in oneDNN's blocked layout."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.weight = torch.ops.mkldnn._reorder_linear_weight(linear.weight.detach().clone())
        self.bias = None if linear.bias is None else linear.bias.detach()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return `x @ weight.T + bias`; x: (..., n_in)."""
        out: torch.Tensor = torch.ops.mkldnn._linear_pointwise(
            x, self.weight, self.bias, "none", [], ""
        )
        return out


def pack_linear_layers(model: nn.Module) -> int:
    """Replace the bfloat16 linear layers of a CPU model where that is exact; return how many."""
    if not torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
        return 0
    packed = 0
    with torch.inference_mode():
        for parent in list(model.modules()):
            for name, layer in list(parent.named_children()):
                if type(layer) is nn.Linear and layer.weight.dtype == torch.bfloat16:
                    replacement = _replacement(layer)
                    if replacement is not None:
                        setattr(parent, name, replacement)
                        packed += 1
    return packed


def _replacement(layer: nn.Linear) -> PackedLinear | None:
    sample = torch.linspace(-1, 1, 3 * layer.in_features, dtype=torch.bfloat16)
    sample = sample.reshape(1, 3, layer.in_features)
    try:
        candidate = PackedLinear(layer)
        difference = (candidate(sample) - layer(sample)).abs().max()
    except (RuntimeError, AttributeError, TypeError, NotImplementedError):
        return None
    return candidate if float(difference) <= _TOLERANCE else None
