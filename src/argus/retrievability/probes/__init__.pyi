from .probe import (
    Prediction as Prediction,
    Probe as Probe,
    load_default as load_default,
    load_probe as load_probe,
    probe_file as probe_file,
    same_encoder as same_encoder,
    save_probe as save_probe,
)
