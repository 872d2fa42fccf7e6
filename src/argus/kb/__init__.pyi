from .build import build_kb as build_kb
from .config import KbConfig as KbConfig
