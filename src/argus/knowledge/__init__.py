"""Entities, their relations, their mentions in text, and the embedded sample corpus."""

from argus.knowledge.base import Entity, KnowledgeBase
from argus.knowledge.mentions import Grounded, ground, mention_relations
from argus.knowledge.relations import RelationGraph, read_relations

__all__ = [
    "Entity",
    "Grounded",
    "KnowledgeBase",
    "RelationGraph",
    "ground",
    "mention_relations",
    "read_relations",
]
