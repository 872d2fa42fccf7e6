from .base import (
    Entity as Entity,
    KnowledgeBase as KnowledgeBase,
)
from .gazetteer import (
    CapitalisedNames as CapitalisedNames,
    Gazetteer as Gazetteer,
    GazetteerConfig as GazetteerConfig,
)
from .load import (
    KnowledgeSource as KnowledgeSource,
    MENTIONS as MENTIONS,
    read_knowledge as read_knowledge,
)
from .ner import TokenClassifier as TokenClassifier
from .base import (
    RelationGraph as RelationGraph,
    read_relations as read_relations,
)
from .names import (
    Grounded as Grounded,
    Mention as Mention,
    MentionFinder as MentionFinder,
    ground as ground,
    mention_relations as mention_relations,
)
