from .exchange import from_langfuse as from_langfuse, from_mlflow as from_mlflow
from .exchange import to_langfuse as to_langfuse, to_mlflow as to_mlflow
from .folder import record_runs as record_runs, runs_in as runs_in, runs_of as runs_of
from .run import JobRun as JobRun
