from .source import KnowledgeSource as KnowledgeSource
from .base import (
    Entity as Entity,
    KnowledgeBase as KnowledgeBase,
)
from .gazetteer import CapitalisedNames as CapitalisedNames
from .source import GazetteerConfig as GazetteerConfig
from .gazetteer import Gazetteer as Gazetteer
from .load import (
    MENTIONS as MENTIONS,
    read_knowledge as read_knowledge,
)
from .mentions import (
    Grounded as Grounded,
    ground as ground,
    mention_relations as mention_relations,
)
from .ner import TokenClassifier as TokenClassifier
from .relations import (
    RelationGraph as RelationGraph,
    read_relations as read_relations,
)
from .names import (
    Mention as Mention,
    MentionFinder as MentionFinder,
)
