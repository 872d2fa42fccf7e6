from .config import RepairConfig as RepairConfig
