"""Training of the MLP probe in torch: Adam on squared error, early stopping, no global state."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from argus.retrievability.probes.models import Floats, MlpModel, standard_scale

if TYPE_CHECKING:
    from torch import nn


def train_mlp(
    vectors: npt.NDArray[Any],
    labels: Floats,
    validation: tuple[npt.NDArray[Any], npt.NDArray[Any]],
    *,
    width: int,
    depth: int,
    dropout: float,
    learning_rate: float,
    batch_size: int,
    max_epochs: int,
    patience: int,
    seed: int,
) -> tuple[MlpModel, int]:
    """Return the network of the epoch with the lowest validation RMSE, and that epoch from 1.

    Vectors are standardised by `vectors` alone. Training ends after `patience` epochs without a
    better RMSE (ARGUS §C.1). Equal arguments give equal networks on one machine.
    """
    mean = vectors.mean(axis=0).astype(np.float32)
    scale = standard_scale(vectors).astype(np.float32)
    inputs = (vectors.astype(np.float32) - mean) / scale
    best: MlpModel | None = None
    best_rmse, best_epoch = np.inf, 0
    with _seeded(seed):
        network = _network(vectors.shape[1], width, depth, dropout)
        epochs = _epochs(network, inputs, labels, learning_rate, batch_size)
        for epoch, _ in zip(range(1, max_epochs + 1), epochs, strict=False):
            model = _rounded(network, mean, scale)
            error = np.clip(model.predict(validation[0]), 0, 1) - validation[1]
            rmse = float(np.sqrt(np.mean(error**2)))
            if best is None or rmse < best_rmse:
                best, best_rmse, best_epoch = model, rmse, epoch
            elif epoch - best_epoch >= patience:
                break
    if best is None:
        raise ValueError(f"max_epochs={max_epochs}: needs at least 1.")
    return best, best_epoch


def _epochs(
    network: nn.Sequential,
    inputs: npt.NDArray[np.float32],
    labels: Floats,
    learning_rate: float,
    batch_size: int,
) -> Iterator[None]:
    """Train `network` on squared error by Adam. Yield after every epoch."""
    import torch
    from torch import nn

    rows, targets = torch.from_numpy(inputs), torch.from_numpy(labels.astype(np.float32))
    optimiser = torch.optim.Adam(network.parameters(), lr=learning_rate)
    network.train()
    while True:
        for batch in torch.split(torch.randperm(len(rows)), batch_size):
            optimiser.zero_grad()
            nn.functional.mse_loss(network(rows[batch])[:, 0], targets[batch]).backward()  # type: ignore[no-untyped-call]
            optimiser.step()
        yield


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Seed torch's CPU generator inside the block and put its state back after it."""
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        yield


def _network(dim: int, width: int, depth: int, dropout: float) -> nn.Sequential:
    from torch import nn

    layers: list[nn.Module] = []
    for _ in range(depth):
        layers += [nn.Linear(dim, width), nn.ReLU(), nn.Dropout(dropout)]
        dim = width
    return nn.Sequential(*layers, nn.Linear(dim, 1))


def _rounded(
    network: nn.Sequential, mean: npt.NDArray[np.float32], scale: npt.NDArray[np.float32]
) -> MlpModel:
    """Return the network as it will be stored."""
    from torch import nn

    dense = [layer for layer in network if isinstance(layer, nn.Linear)]
    return MlpModel(
        mean,
        scale,
        tuple(layer.weight.detach().numpy().astype(np.float16) for layer in dense),
        tuple(layer.bias.detach().numpy().astype(np.float16) for layer in dense),
    )
