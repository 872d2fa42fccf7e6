from .authority.config import (
    ScoreConfig as ScoreConfig,
)
from .authority.benchmarks.gap import (
    GapSummary as GapSummary,
    vocabulary_gap as vocabulary_gap,
)
from .authority.benchmarks.job import (
    ScoreResult as ScoreResult,
    generate_benchmark as generate_benchmark,
    score_systems as score_systems,
)
from .authority.benchmarks.scoring import (
    ScoringSummary as ScoringSummary,
)
from .authority.benchmarks.collection import (
    Benchmark as Benchmark,
    Question as Question,
)
from .authority.conditions import (
    Conditions as Conditions,
    Ignored as Ignored,
    Missing as Missing,
    check_conditions as check_conditions,
)
from .authority.opening import (
    RuleCoverage as RuleCoverage,
)
from .authority.domains import (
    Domain as Domain,
    load_domain as load_domain,
)
from .authority.domains.spec import (
    ShapeSpec as ShapeSpec,
)
from .authority.edges import (
    read_edges as read_edges,
)
from .authority.entities import (
    ScopeNames as ScopeNames,
)
from .authority.config import (
    HarmConfig as HarmConfig,
)
from .authority.harm import (
    HarmResult as HarmResult,
    measure_harm as measure_harm,
)
from .authority.harm import (
    HarmSummary as HarmSummary,
)
from .authority.audit import (
    AuthorityAuditResult as AuthorityAuditResult,
    audit_authority as audit_authority,
)
from .authority.config import (
    AuthoritySource as AuthoritySource,
    LatentScope as LatentScope,
    LintBounds as LintBounds,
    VariantConfig as VariantConfig,
)
from .authority.opening import (
    OpenedAuthority as OpenedAuthority,
)
from .authority.lint import (
    LintResult as LintResult,
    lint as lint,
)
from .authority.search import (
    search_authority as search_authority,
)
from .authority.stream import (
    StreamSummary as StreamSummary,
    stream_authority as stream_authority,
)
from .authority.audit import (
    AuthorityAuditSummary as AuthorityAuditSummary,
)
from .authority.lint import (
    LintSummary as LintSummary,
)
from .authority.opening import (
    RelationSummary as RelationSummary,
)
from .authority.search import (
    SearchAnswer as SearchAnswer,
    VariantAnswer as VariantAnswer,
)
from .authority.config import (
    ProposeConfig as ProposeConfig,
)
from .authority.proposals import (
    AcceptResult as AcceptResult,
    AcceptSummary as AcceptSummary,
    Proposal as Proposal,
    ProposalResult as ProposalResult,
    ProposalSummary as ProposalSummary,
    accept_proposals as accept_proposals,
    propose_supersessions as propose_supersessions,
)
from .authority.config import (
    LatentConfig as LatentConfig,
)
from .authority.latent import (
    expectation as expectation,
    map_frontier as map_frontier,
    scope_posterior as scope_posterior,
)
from .authority.relation import (
    Link as Link,
)
from .authority.lint import (
    LintedQuery as LintedQuery,
    Removed as Removed,
)
from .authority.records import (
    Record as Record,
)
from .authority.relation import (
    Authority as Authority,
)
from .authority.resolve import (
    resolve as resolve,
)
from .authority.rules import (
    Edge as Edge,
    Order as Order,
    Rule as Rule,
    ScopeKey as ScopeKey,
    Ties as Ties,
)
from .authority.config import (
    Chains as Chains,
    Places as Places,
)
from .authority.stream import (
    Change as Change,
    Keep as Keep,
    Result as Result,
    Stream as Stream,
)
from .authority.times import (
    Moment as Moment,
)
from .authority.uncertain import (
    Chance as Chance,
    SafeFrontier as SafeFrontier,
    safe_frontier as safe_frontier,
)
from .authority.wrappers import (
    AuthorityRetriever as AuthorityRetriever,
)
from .corpora import (
    StoreCorpus as StoreCorpus,
)
from .data.rows import Frame as Frame
from .data.fields import FieldPath as FieldPath
from .data.topics import DprKey as DprKey, DprPassage as DprPassage, DprResult as DprResult
from .data.fields import (
    FieldNames as FieldNames,
)
from .data.kb import (
    KnowledgeFolder as KnowledgeFolder,
)
from .data.kb import Shard as Shard
from .data.storage import (
    Storage as Storage,
)
from .data.topics import (
    TopicFormat as TopicFormat,
)
from .data.types import (
    Document as Document,
    Qrels as Qrels,
    Query as Query,
    RecordFields as RecordFields,
    Run as Run,
    Span as Span,
    State as State,
    Topic as Topic,
    View as View,
)
from .encoders.config import (
    EncoderConfig as EncoderConfig,
)
from .encoders.load import (
    LoadedEncoder as LoadedEncoder,
    load_encoder as load_encoder,
)
from .encoders.protocol import (
    Encoder as Encoder,
)
from .encoders.rows import (
    SparseRows as SparseRows,
    TokenRows as TokenRows,
)
from .engine import (
    EngineConfig as EngineConfig,
)
from .engine.protocol import (
    Engine as Engine,
    EngineRecord as EngineRecord,
)
from .errors import (
    Location as Location,
)
from .evaluation.compared_lists import (
    compare_indexes as compare_indexes,
    compare_retrievers as compare_retrievers,
)
from .evaluation.compared_results import (
    compare_encoders as compare_encoders,
    compare_folders as compare_folders,
)
from .evaluation.comparison import (
    CompareResult as CompareResult,
)
from .evaluation.config import (
    ChunkedCorpus as ChunkedCorpus,
    EvaluateConfig as EvaluateConfig,
)
from .evaluation.gate import (
    GateBounds as GateBounds,
)
from .evaluation.gate import (
    GateResult as GateResult,
    gate as gate,
)
from .evaluation.gate import (
    Outcome as Outcome,
    Verdict as Verdict,
)
from .evaluation.history import (
    compare_runs as compare_runs,
)
from .evaluation.history import (
    HistoryResult as HistoryResult,
    history as history,
)
from .evaluation.job import (
    EvaluateResult as EvaluateResult,
    evaluate as evaluate,
)
from .evaluation.judged import (
    ParentFold as ParentFold,
)
from .explanation.config import (
    ExplainConfig as ExplainConfig,
    RpsSource as RpsSource,
    RunConfig as RunConfig,
)
from .explanation.evidence import (
    Above as Above,
    Cause as Cause,
    Explanation as Explanation,
    Place as Place,
    RetrieverExplanation as RetrieverExplanation,
    RunStanding as RunStanding,
    ScoredView as ScoredView,
    Standing as Standing,
)
from .explanation.job import (
    explain as explain,
)
from .explanation.run import (
    explain_retriever as explain_retriever,
)
from .generative.answer import (
    Answer as Answer,
    Hit as Hit,
    HitKey as HitKey,
)
from .generative.decode.settings import (
    Cure as Cure,
    Decoding as Decoding,
)
from .generative.failures.jobs.analyse import (
    FailureResult as FailureResult,
    analyse_failures as analyse_failures,
)
from .generative.failures.jobs.settings import (
    Correct as Correct,
    FailureConfig as FailureConfig,
    ReplayConfig as ReplayConfig,
)
from .generative.failures.summary import (
    FailureSettings as FailureSettings,
    FailureSummary as FailureSummary,
)
from .generative.index.job import (
    BuildResult as BuildResult,
    build_ngrams as build_ngrams,
)
from .generative.index.ngram_index import (
    NgramIndex as NgramIndex,
    Rows as Rows,
)
from .generative.index.segment import (
    Segment as Segment,
)
from .generative.index.settings import (
    NgramBuildConfig as NgramBuildConfig,
)
from .generative.index.summary import (
    NgramBuildSummary as NgramBuildSummary,
)
from .generative.jobs.outputs import (
    Results as Results,
)
from .generative.jobs.search import (
    SearchResult as SearchResult,
    search_ngrams as search_ngrams,
)
from .generative.jobs.settings import (
    Format as Format,
    NgramSearchConfig as NgramSearchConfig,
)
from .generative.jobs.summary import (
    SearchSettings as SearchSettings,
    SearchSummary as SearchSummary,
)
from .generative.settings import (
    Mode as Mode,
    Scoring as Scoring,
)
from .generative.training.config import (
    GenerativeTrainConfig as GenerativeTrainConfig,
    ScratchSize as ScratchSize,
)
from .generative.training.job import (
    GenerativeTrainResult as GenerativeTrainResult,
    train_generative as train_generative,
)
from .generative.training.settings import (
    ExampleConfig as ExampleConfig,
    LearningConfig as LearningConfig,
)
from .generative.training.summary import (
    TrainSummary as TrainSummary,
)
from .generative.tuning.job import (
    GenerativeTuneResult as GenerativeTuneResult,
    tune_generative as tune_generative,
)
from .generative.tuning.settings import (
    GenerativeTuneConfig as GenerativeTuneConfig,
)
from .generative.tuning.summary import (
    TuneSummary as TuneSummary,
)
from .generative.vocabulary import (
    Vocabulary as Vocabulary,
)
from .indexes.fold import (
    Layout as Layout,
    TopDocuments as TopDocuments,
)
from .indexes.header import (
    CorpusFields as CorpusFields,
    EncoderSettings as EncoderSettings,
    IndexHeader as IndexHeader,
    VectorsFile as VectorsFile,
)
from .indexes.job import (
    IndexResult as IndexResult,
    add_documents as add_documents,
    build_index as build_index,
    compact_index as compact_index,
    delete_documents as delete_documents,
)
from .indexes.words import (
    Analyzer as Analyzer,
)
from .indexes.recipe import (
    QueryCorrection as QueryCorrection,
)
from .indexes.lexical import (
    Hits as Hits,
    LexicalIndex as LexicalIndex,
)
from .indexes.blend import (
    Blend as Blend,
)
from .indexes.recipe import (
    ActiveRecipe as ActiveRecipe,
    DocumentNumbers as DocumentNumbers,
)
from .indexes.blend import (
    Recipe as Recipe,
)
from .indexes.views import (
    RemedyViews as RemedyViews,
)
from .indexes.retriever import (
    IndexRetriever as IndexRetriever,
    open_retriever as open_retriever,
)
from .indexes.snapshot import (
    Snapshot as Snapshot,
)
from .indexes.header import (
    IndexSpec as IndexSpec,
)
from .indexes.views import (
    ViewIndex as ViewIndex,
)
from .kb.build import (
    KbResult as KbResult,
    build_kb as build_kb,
)
from .kb.config import (
    KbConfig as KbConfig,
)
from .kb.config import (
    Dumps as Dumps,
    Source as Source,
)
from .kb.findings import (
    KbSummary as KbSummary,
)
from .knowledge.source import (
    GazetteerConfig as GazetteerConfig,
)
from .knowledge.source import (
    KnowledgeSource as KnowledgeSource,
)
from .knowledge.sources import (
    EntityRows as EntityRows,
    PageFolder as PageFolder,
    TripleFiles as TripleFiles,
)
from .knowledge.sources.raw import (
    RawWriter as RawWriter,
)
from .llm import (
    ChatConfig as ChatConfig,
    LocalConfig as LocalConfig,
)
from .remedies.config import (
    SentenceSettings as SentenceSettings,
)
from .remedies.blend import (
    BlendResult as BlendResult,
    blend_index as blend_index,
)
from .remedies.config import (
    ExpandConfig as ExpandConfig,
)
from .remedies.diagnosis import (
    Diagnosis as Diagnosis,
    Risk as Risk,
)
from .remedies.diagnosis import (
    DiagnoseResult as DiagnoseResult,
    diagnose as diagnose,
)
from .runs.folder import (
    runs_in as runs_in,
    runs_of as runs_of,
)
from .runs.run import (
    JobRun as JobRun,
    RunRecord as RunRecord,
)
from .scenarios.adapt.config import (
    AdaptConfig as AdaptConfig,
)
from .scenarios.adapt.job import (
    AdaptResult as AdaptResult,
    adapt_index as adapt_index,
)
from .scenarios.adapt.summary import (
    AdaptSummary as AdaptSummary,
    JudgedNeeds as JudgedNeeds,
    LearntCorrection as LearntCorrection,
    NeedCounts as NeedCounts,
)
from .remedies.config import (
    ReferenceConfig as ReferenceConfig,
    SynthesizeConfig as SynthesizeConfig,
)
from .remedies.expansion import (
    expand_index as expand_index,
)
from .remedies.remedy_result import (
    RemedyResult as RemedyResult,
)
from .remedies.receipt import (
    RepairResult as RepairResult,
)
from .remedies.undo import (
    rollback as rollback,
)
from .remedies.synthesis import (
    synthesize_index as synthesize_index,
)
from .repair.config import (
    RepairConfig as RepairConfig,
)
from .repair.job import (
    ChosenRepair as ChosenRepair,
    repair_index as repair_index,
)
from .remedies.store_writing import (
    WrittenResult as WrittenResult,
    write_index as write_index,
)
from .remedies.store_blend import (
    blend_store as blend_store,
)
from .remedies.store_writing import (
    list_in_store as list_in_store,
    rollback_in_store as rollback_in_store,
)
from .traffic.config import (
    LogConfig as LogConfig,
    TrafficConfig as TrafficConfig,
)
from .traffic.exchange import (
    Exchange as Exchange,
    Feedback as Feedback,
    Passage as Passage,
    ReadingTally as ReadingTally,
)
from .traffic.exchange import (
    FeedbackMarks as FeedbackMarks,
    FeedbackScale as FeedbackScale,
)
from .traffic.job import (
    TrafficResult as TrafficResult,
    audit_traffic as audit_traffic,
)
from .traffic.reading import (
    TrafficReader as TrafficReader,
    read_traffic as read_traffic,
)
from .health import (
    HealthCheck as HealthCheck,
    HealthResult as HealthResult,
    HealthState as HealthState,
    ProjectParts as ProjectParts,
    check_up as check_up,
)
from .project import (
    ProjectConfig as ProjectConfig,
    ProjectResult as ProjectResult,
    start_project as start_project,
)
from .reach import (
    ReachConfig as ReachConfig,
    ReachResult as ReachResult,
    ReachSummary as ReachSummary,
    reach as reach,
)
from .reports.html import (
    figure_dicts as figure_dicts,
    plotly_figures as plotly_figures,
    write_report as write_report,
)
from .retrievability.audit.config import (
    AuditConfig as AuditConfig,
)
from .retrievability.audit.job import (
    AuditResult as AuditResult,
    audit as audit,
)
from .retrievability.audit.summary import (
    AuditSummary as AuditSummary,
)
from .retrievability.exposure.config import (
    ExposureConfig as ExposureConfig,
)
from .retrievability.exposure.job import (
    ExposureResult as ExposureResult,
    export_probes as export_probes,
    exposure as exposure,
)
from .retrievability.exposure.retriever_probes import (
    PlainProbes as PlainProbes,
)
from .retrievability.exposure.summary import (
    ExposureSummary as ExposureSummary,
)
from .retrievability.pairs import (
    PairRanks as PairRanks,
)
from .retrievability.probes.config import (
    ProbeConfig as ProbeConfig,
)
from .retrievability.probes.domain import (
    ProbeDomain as ProbeDomain,
)
from .retrievability.probes.fit import (
    ProbeResult as ProbeResult,
    fit_probe as fit_probe,
)
from .retrievability.probes.models import (
    Model as Model,
)
from .retrievability.probes.predict import (
    PredictResult as PredictResult,
    predict_rps as predict_rps,
)
from .retrievability.probes.probe import (
    Prediction as Prediction,
    Probe as Probe,
)
from .retrievability.probes.summary import (
    FitMetrics as FitMetrics,
    PredictionSummary as PredictionSummary,
    ProbeSummary as ProbeSummary,
    Training as Training,
)
from .retrievers.engine_queries import (
    EngineQueries as EngineQueries,
    EngineQuery as EngineQuery,
    engine_queries as engine_queries,
)
from .retrievers.blended import (
    BlendedRetriever as BlendedRetriever,
)
from .retrievers.config import (
    AskingConfig as AskingConfig,
)
from .retrievers.protocol import (
    Answers as Answers,
    Retriever as Retriever,
)
from .scenarios.ablation.config import (
    AblateConfig as AblateConfig,
    ComparisonSettings as ComparisonSettings,
)
from .scenarios.ablation.job import (
    AblateResult as AblateResult,
    ablate_scenarios as ablate_scenarios,
)
from .scenarios.ablation.summary import (
    AblationSummary as AblationSummary,
)
from .scenarios.distill.job import (
    DistillResult as DistillResult,
    distill as distill,
)
from .scenarios.distill.settings import (
    DistillConfig as DistillConfig,
    TrainConfig as TrainConfig,
)
from .scenarios.distill.summary import (
    DistillSummary as DistillSummary,
)
from .scenarios.files import (
    read_profiles as read_profiles,
)
from .scenarios.needs.config import (
    NeedsConfig as NeedsConfig,
    PoolSetting as PoolSetting,
)
from .scenarios.needs.job import (
    NeedsResult as NeedsResult,
    audit_needs as audit_needs,
)
from .scenarios.needs.measuring import (
    JudgedFiles as JudgedFiles,
)
from .scenarios.needs.served_job import (
    ServedNeedsResult as ServedNeedsResult,
    ask_needs as ask_needs,
)
from .scenarios.needs.served_summary import (
    ServedNeedsSummary as ServedNeedsSummary,
)
from .scenarios.needs.summary import (
    NeedsSummary as NeedsSummary,
    PoolRecord as PoolRecord,
)
from .scenarios.openings import (
    Form as Form,
)
from .scenarios.profile import (
    Component as Component,
    ProfileState as ProfileState,
    Profiled as Profiled,
    Scenario as Scenario,
    ScenarioProfile as ScenarioProfile,
)
from .scenarios.profiles.config import (
    ProfileConfig as ProfileConfig,
    Role as Role,
)
from .scenarios.profiles.index import (
    ScenariosResult as ScenariosResult,
    add_scenarios as add_scenarios,
)
from .scenarios.profiles.job import (
    ProfileResult as ProfileResult,
    profile_documents as profile_documents,
)
from .scenarios.profiles.summary import (
    AddedScenarios as AddedScenarios,
    ProfileSummary as ProfileSummary,
)
from .scenarios.qa.config import (
    QAConfig as QAConfig,
)
from .scenarios.qa.job import (
    QAResult as QAResult,
    compare_answers as compare_answers,
)
from .scenarios.qa.summary import (
    QASummary as QASummary,
)
from .scenarios.study.config import (
    Criterion as Criterion,
    PreferenceConfig as PreferenceConfig,
    StudyConfig as StudyConfig,
    Versus as Versus,
)
from .scenarios.study.job import (
    StudyResult as StudyResult,
    make_study as make_study,
)
from .scenarios.study.reading import (
    PreferenceResult as PreferenceResult,
    read_preferences as read_preferences,
)
from .scenarios.study.summary import (
    PreferenceSummary as PreferenceSummary,
    StudySummary as StudySummary,
)
from .settings import (
    Option as Option,
    Setting as Setting,
)
from .suite.config import (
    ReproduceConfig as ReproduceConfig,
    Suite as Suite,
    SuiteConfig as SuiteConfig,
    SuiteRemedy as SuiteRemedy,
    SuiteRetriever as SuiteRetriever,
    SuiteTask as SuiteTask,
)
from .suite.job import (
    SuiteResult as SuiteResult,
    run_suite as run_suite,
)
from .suite.reading import (
    read_suite as read_suite,
)
from .suite.reproduce import (
    ReproduceResult as ReproduceResult,
    recipes as recipes,
    reproduce as reproduce,
)
from .suite.tables import (
    Figure as Figure,
    Sheet as Sheet,
)
from .stores.spec import (
    StoreConfig as StoreConfig,
)
from .stores.opening import (
    open_store as open_store,
)
from .stores.protocol import (
    Metric as Metric,
    Records as Records,
    Store as Store,
    StoreFacts as StoreFacts,
)
from .measures.measures import (
    Evaluation as Evaluation,
)
from .retrievers.evaluators import (
    as_beir as as_beir,
    as_mteb as as_mteb,
    as_pyterrier as as_pyterrier,
)
from .tasks.opening import (
    open_task as open_task,
)
from .tasks.task import (
    Task as Task,
)
from .training.settings import (
    LoopConfig as LoopConfig,
)
from .traffic.config import (
    JudgingConfig as JudgingConfig,
)
from .traffic.judging.job import (
    JudgingResult as JudgingResult,
    judge_traffic as judge_traffic,
)
from .traffic.judging.sample import (
    ServedQuestion as ServedQuestion,
)
from .traffic.risk import (
    RiskOrder as RiskOrder,
    calibrate_risk as calibrate_risk,
    rank_by_risk as rank_by_risk,
)
from .verdict.counts import (
    CountBounds as CountBounds,
    Validity as Validity,
    VerdictCount as VerdictCount,
    VerdictLevel as VerdictLevel,
)
from .verdict.verdict import (
    FolderVerdict as FolderVerdict,
    VerdictAction as VerdictAction,
    read_verdict as read_verdict,
)
from .version import (
    __version__ as __version__,
)
