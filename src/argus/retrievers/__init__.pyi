from .blended import BlendedRetriever as BlendedRetriever
from .config import AskingConfig as AskingConfig
from .opening import opened as opened
from .protocol import Retriever as Retriever
