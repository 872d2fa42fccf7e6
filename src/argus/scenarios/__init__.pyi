from .profile import (
    Component as Component,
    Profiled as Profiled,
    ProfileState as ProfileState,
    Scenario as Scenario,
    ScenarioProfile as ScenarioProfile,
)
from .ablation.findings import AblateConfig as AblateConfig
from .ablation.job import ablate_scenarios as ablate_scenarios
from .adapt import AdaptConfig as AdaptConfig
from .adapt import adapt_index as adapt_index
from .distill import DistillConfig as DistillConfig, TrainConfig as TrainConfig
from .files import read_profiles as read_profiles
from .config import NeedsConfig as NeedsConfig
from .needs.audit import audit_needs as audit_needs
from .config import ProfileConfig as ProfileConfig
from .remedy import add_scenarios as add_scenarios
from .profiles import profile_documents as profile_documents
from .qa.job import QAConfig as QAConfig
from .qa.job import compare_answers as compare_answers
from .study import StudyConfig as StudyConfig
from .study import make_study as make_study
from .study import PreferenceConfig as PreferenceConfig, read_preferences as read_preferences
