"""`argus plan`: what a job will take, from what was measured on the hardware (docs/scale.md)."""

from argus.planning.calibrate import Sizes, calibrate
from argus.planning.hardware import Hardware, load_hardware, save_hardware
from argus.planning.model import Step, Workload, plan

__all__ = [
    "Hardware",
    "Sizes",
    "Step",
    "Workload",
    "calibrate",
    "load_hardware",
    "plan",
    "save_hardware",
]
