from .build import build_kb as build_kb
from .reading import KbConfig as KbConfig
