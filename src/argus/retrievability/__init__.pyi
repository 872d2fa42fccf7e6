from .audit.config import AuditConfig as AuditConfig
from .exposure.job import export_probes as export_probes
from .probes.config import ProbeConfig as ProbeConfig
from .probes.fit import fit_probe as fit_probe
from .probes.predict import predict_rps as predict_rps
