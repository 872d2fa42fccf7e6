"""The search again, to see what the beam lost: false pruning, and rankings without some keys."""

from argus.generative.failures.replay.lost import Lost, Pruned
from argus.generative.failures.replay.replay import Replay, Replayed

__all__ = ["Lost", "Pruned", "Replay", "Replayed"]
