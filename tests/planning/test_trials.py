import torch
from torch import nn

from argus.encoders.packing import pack_linear_layers
from argus.planning.trials import _parameters


class Encoder:
    def __init__(self):
        torch.manual_seed(0)
        self.model = nn.Sequential(nn.Embedding(50, 8), nn.Linear(8, 16), nn.LayerNorm(16)).eval()


def test_the_layers_count_and_the_tables_of_token_vectors_do_not():
    assert _parameters(Encoder()) == 8 * 16 + 16 + 2 * 16


def test_a_packed_layer_counts_as_much_as_the_layer_it_replaced():
    encoder = Encoder()
    encoder.model.to(torch.bfloat16)
    before = _parameters(encoder)
    pack_linear_layers(encoder.model)
    assert _parameters(encoder) == before
