import pytest
import torch
from torch import nn

from argus.encoders.sentence_transformer import pack_linear_layers


class FeedForward(nn.Module):
    """The first half of a BERT block's feed-forward part, with its names."""

    def __init__(self, activation):
        super().__init__()
        torch.manual_seed(0)
        self.dense = nn.Linear(48, 64)
        self.intermediate_act_fn = activation

    def forward(self, x):
        return self.intermediate_act_fn(self.dense(x))


@pytest.mark.parametrize(("activation", "fused"), [(nn.GELU(), "gelu"), (nn.ReLU(), "none")])
def test_gelu_is_fused_and_another_activation_is_left(activation, fused):
    model = FeedForward(activation).to(torch.bfloat16).eval()
    x = torch.linspace(-3, 3, 5 * 48).reshape(5, 48).to(torch.bfloat16)
    with torch.inference_mode():
        before = model(x).float()
        if pack_linear_layers(model) == 0:
            pytest.skip("this build of torch has no packed bfloat16 layers")
        after = model(x).float()
    assert model.dense.fused[0] == fused
    assert isinstance(model.intermediate_act_fn, nn.Identity if fused == "gelu" else nn.ReLU)
    torch.testing.assert_close(after, before, rtol=0.02, atol=0.02)
