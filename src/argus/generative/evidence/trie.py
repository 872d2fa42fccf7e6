"""A trie over keys, to find those that start at a place of a passage in one walk."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from argus.data.types import IntArray
from argus.generative.evidence.hashing import SMALLEST, doubled, place


class Trie(NamedTuple):
    """Node 0 is the root. Memory: 4 bytes per token of the vocabulary, 50 per token of the keys."""

    root: np.ndarray
    """(V,) int32: the child of the root by a token, 0 where there is none."""
    edges: np.ndarray
    """Hash table of the other edges: node << 32 | token."""
    children: np.ndarray
    """int32: the child that an edge leads to."""
    key: np.ndarray
    """(n_nodes,) int32: the key that ends at a node, or -1."""
    nested: int
    """Keys on one path, at most: so many can start at one place."""


def build(ptr: IntArray, tokens: np.ndarray, vocabulary_size: int) -> Trie:
    """Return the trie of distinct keys. Key i is tokens[ptr[i] : ptr[i + 1]], at least one."""
    return Trie(*_build(ptr, tokens.astype(np.int64), vocabulary_size, SMALLEST))


@numba.njit(nogil=True, cache=True)
def _build(ptr, tokens, vocabulary_size, size):  # type: ignore[no-untyped-def]  # pragma: no cover
    root = np.zeros(vocabulary_size, np.int32)
    edges, children = np.full(size, -1, np.int64), np.zeros(size, np.int32)
    key = np.full(len(tokens) + 1, -1, np.int32)
    parent = np.zeros(len(tokens) + 1, np.int32)
    nodes, used = 1, 0
    for i in range(len(ptr) - 1):
        node = 0
        for j in range(ptr[i], ptr[i + 1]):
            if node == 0:
                if root[tokens[j]] == 0:
                    root[tokens[j]] = nodes
                    nodes += 1
                node = root[tokens[j]]
                continue
            if 2 * used >= len(edges):
                edges, children = doubled(edges, children)
            edge = np.int64(node) << 32 | tokens[j]
            at = place(edges, edge)
            if edges[at] == -1:
                edges[at], children[at], parent[nodes] = edge, nodes, node
                nodes += 1
                used += 1
            node = children[at]
        key[node] = i
    return root, edges, children, key[:nodes], _nested(key, parent, nodes)


@numba.njit(nogil=True, cache=True)
def _nested(key, parent, nodes):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Return how many keys are on one path, at most. Parents are numbered before children."""
    on_path = np.zeros(nodes, np.int32)
    most = 0
    for node in range(1, nodes):
        on_path[node] = on_path[parent[node]] + (key[node] >= 0)
        most = max(most, on_path[node])
    return most
