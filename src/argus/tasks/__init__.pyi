from .opening import open_task as open_task
from .task import Task as Task
