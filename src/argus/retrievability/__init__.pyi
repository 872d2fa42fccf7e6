from .config import AuditConfig as AuditConfig, ProbeConfig as ProbeConfig
from .exposure import export_probes as export_probes
from .probes.fit import fit_probe as fit_probe
from .probes.predict import predict_rps as predict_rps
