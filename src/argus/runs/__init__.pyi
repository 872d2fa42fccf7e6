from .folder import record_runs as record_runs, runs_in as runs_in, runs_of as runs_of
from .run import JobRun as JobRun
