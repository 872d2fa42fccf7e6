"""Entities, their relations, their mentions in text, and the embedded sample corpus."""

from argus.knowledge.base import Entity, KnowledgeBase
from argus.knowledge.load import MENTIONS, KnowledgeSource, load_knowledge
from argus.knowledge.mentions import Grounded, ground, mention_relations
from argus.knowledge.relations import RelationGraph, read_relations

__all__ = [
    "MENTIONS",
    "Entity",
    "Grounded",
    "KnowledgeBase",
    "KnowledgeSource",
    "RelationGraph",
    "ground",
    "load_knowledge",
    "mention_relations",
    "read_relations",
]
