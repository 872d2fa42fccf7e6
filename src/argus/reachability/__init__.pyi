from .config import ReachConfig as ReachConfig
