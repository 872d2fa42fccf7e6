from .config import SuiteConfig as SuiteConfig
from .job import run_suite as run_suite
from .reading import read_suite as read_suite
