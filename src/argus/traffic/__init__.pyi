from .config import (
    JudgingConfig as JudgingConfig,
    LogConfig as LogConfig,
    TrafficConfig as TrafficConfig,
)
from .exchange import Exchange as Exchange
from .reading import TrafficReader as TrafficReader, read_traffic as read_traffic
from .risk import rank_by_risk as rank_by_risk
