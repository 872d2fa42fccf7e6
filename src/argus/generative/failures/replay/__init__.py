"""The search again, to see what the beam lost: false pruning, and rankings without some keys."""

from argus.generative.failures.replay.path import Left
from argus.generative.failures.replay.replay import Pruned, Replay, Replayed

__all__ = ["Left", "Pruned", "Replay", "Replayed"]
