"""Entities, their relations, their mentions in text, and the embedded sample corpus.

Importing this loads no model and no compiled library: a finder loads what it needs when it is made.
"""

from argus.knowledge.base import Entity, KnowledgeBase
from argus.knowledge.capitals import CapitalisedNames
from argus.knowledge.gazetteer import Gazetteer, GazetteerConfig
from argus.knowledge.load import MENTIONS, KnowledgeSource, load_knowledge, read_knowledge
from argus.knowledge.mentions import Grounded, ground, mention_relations
from argus.knowledge.ner import TokenClassifier
from argus.knowledge.relations import RelationGraph, read_relations
from argus.knowledge.spotting import Mention, MentionFinder

__all__ = [
    "MENTIONS",
    "CapitalisedNames",
    "Entity",
    "Gazetteer",
    "GazetteerConfig",
    "Grounded",
    "KnowledgeBase",
    "KnowledgeSource",
    "Mention",
    "MentionFinder",
    "RelationGraph",
    "TokenClassifier",
    "ground",
    "load_knowledge",
    "mention_relations",
    "read_knowledge",
    "read_relations",
]
