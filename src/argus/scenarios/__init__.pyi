from .profile import (
    Component as Component,
    Profiled as Profiled,
    ProfileState as ProfileState,
    Scenario as Scenario,
    ScenarioProfile as ScenarioProfile,
)
from .ablation.config import AblateConfig as AblateConfig
from .ablation.job import ablate_scenarios as ablate_scenarios
from .adapt.config import AdaptConfig as AdaptConfig
from .adapt.job import adapt_index as adapt_index
from .distill.settings import DistillConfig as DistillConfig, TrainConfig as TrainConfig
from .files import read_profiles as read_profiles
from .needs.config import NeedsConfig as NeedsConfig
from .needs.audit import audit_needs as audit_needs
from .needs.served import ask_needs as ask_needs
from .profiles.config import ProfileConfig as ProfileConfig
from .profiles.index import add_scenarios as add_scenarios
from .profiles.job import profile_documents as profile_documents
from .qa.config import QAConfig as QAConfig
from .qa.job import compare_answers as compare_answers
from .study.config import PreferenceConfig as PreferenceConfig, StudyConfig as StudyConfig
from .study.job import make_study as make_study
from .study.preferences import read_preferences as read_preferences
