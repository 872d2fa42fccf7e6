"""Keep bfloat16 weights in the layout that the processor's matrix routines want.

Without this, oneDNN rearranges every weight in every call. The operators used are those that
torch.compile emits when it freezes a model. They are not a documented interface, so each layer is
checked against the layer it replaces and left alone if they are missing or disagree.
"""

from __future__ import annotations

import torch
from torch import nn

_TOLERANCE = 0.02  # of the largest value: two roundings to bfloat16 apart


class PackedLinear(nn.Module):
    """A linear layer for inference: weight in oneDNN's blocked layout, GELU fused if asked.

    numel: how many parameters it stands for. None is registered, since none can be moved or cast.
    """

    def __init__(self, linear: nn.Linear, *, gelu: bool = False) -> None:
        super().__init__()
        self.weight = torch.ops.mkldnn._reorder_linear_weight(linear.weight.detach().clone())
        self.bias = None if linear.bias is None else linear.bias.detach()
        self.numel = sum(p.numel() for p in linear.parameters())
        self.fused = ("gelu", "none") if gelu else ("none", "")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return `x @ weight.T + bias`, through GELU if fused. x: (..., n_in)."""
        activation, algorithm = self.fused
        out: torch.Tensor = torch.ops.mkldnn._linear_pointwise(
            x, self.weight, self.bias, activation, [], algorithm
        )
        return out


def pack_linear_layers(model: nn.Module) -> int:
    """Replace the bfloat16 linear layers of a CPU model where that is exact. Return how many.

    In BERT's feed-forward blocks the activation behind the first layer is fused into it.
    """
    if not torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
        return 0
    packed = 0
    with torch.inference_mode():
        for parent in list(model.modules()):
            layers = dict(parent.named_children())
            dense, activation = layers.get("dense"), layers.get("intermediate_act_fn")
            if dense is not None and activation is not None:
                fused = _replacement(dense, nn.Sequential(dense, activation), gelu=True)
                if fused is not None:
                    parent.dense, parent.intermediate_act_fn = fused, nn.Identity()
                    packed += 1
            for name, layer in list(parent.named_children()):
                replacement = _replacement(layer, layer)
                if replacement is not None:
                    setattr(parent, name, replacement)
                    packed += 1
    return packed


def _replacement(
    layer: nn.Module, reference: nn.Module, *, gelu: bool = False
) -> PackedLinear | None:
    """Return the packed layer if it agrees with `reference` on values of a usual size."""
    if type(layer) is not nn.Linear or layer.weight.dtype != torch.bfloat16:
        return None
    sample = torch.linspace(-2, 2, 3 * layer.in_features, dtype=torch.bfloat16)
    sample = sample.reshape(1, 3, layer.in_features)
    try:
        candidate = PackedLinear(layer, gelu=gelu)
        expected = reference(sample).float()
        difference = (candidate(sample).float() - expected).abs().max()
    except (RuntimeError, AttributeError, TypeError, NotImplementedError):
        return None
    is_close = float(difference) <= _TOLERANCE * max(1.0, float(expected.abs().max()))
    return candidate if is_close else None
