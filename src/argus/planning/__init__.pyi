from .calibrate import (
    Sizes as Sizes,
    calibrate as calibrate,
)
from .hardware import (
    Hardware as Hardware,
    load_hardware as load_hardware,
    save_hardware as save_hardware,
)
from .model import (
    Step as Step,
    plan as plan,
)
from .workload import Workload as Workload
