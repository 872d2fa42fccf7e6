from .persist import (
    load_probe as load_probe,
    probe_file as probe_file,
    save_probe as save_probe,
)
from .probe import (
    Prediction as Prediction,
    Probe as Probe,
    same_encoder as same_encoder,
)
from .shipped import load_default as load_default
