from . import (
    authority as authority,
    corpora as corpora,
    data as data,
    encoders as encoders,
    evaluation as evaluation,
    explanation as explanation,
    generative as generative,
    health as health,
    indexes as indexes,
    kb as kb,
    knowledge as knowledge,
    llm as llm,
    measures as measures,
    project as project,
    reachability as reachability,
    remedies as remedies,
    repair as repair,
    reports as reports,
    retrievability as retrievability,
    retrievers as retrievers,
    scenarios as scenarios,
    stores as stores,
    suite as suite,
    tasks as tasks,
    traffic as traffic,
)
from .authority.audit import audit_authority as audit_authority
from .authority.config import AuthoritySource as AuthoritySource
from .authority.lint import lint as lint
from .authority.relation import Authority as Authority
from .authority.search import search_authority as search_authority
from .checks import check as check
from .corpora import StoreCorpus as StoreCorpus
from .data.fields import FieldNames as FieldNames
from .data.types import Document as Document, Query as Query
from .encoders.config import EncoderConfig as EncoderConfig
from .evaluation.gate import gate as gate
from .evaluation.history import history as history
from .evaluation.job import evaluate as evaluate
from .explanation.job import explain as explain
from .explanation.run import explain_retriever as explain_retriever
from .health import check_up as check_up
from .indexes.job import (
    add_documents as add_documents,
    build_index as build_index,
    delete_documents as delete_documents,
)
from .indexes.retriever import IndexRetriever as IndexRetriever, open_retriever as open_retriever
from .project import start_project as start_project
from .reachability.job import reach as reach
from .remedies.blend import blend_index as blend_index
from .remedies.store_blend import blend_store as blend_store
from .remedies.undo import rollback as rollback
from .repair.job import repair_index as repair_index
from .reports.html import write_report as write_report
from .retrievability.audit import audit as audit
from .retrievability.config import ExposureConfig as ExposureConfig
from .retrievability.exposure import exposure as exposure
from .retrievers.blended import BlendedRetriever as BlendedRetriever
from .retrievers.config import AskingConfig as AskingConfig
from .retrievers.protocol import Retriever as Retriever
from .traffic.job import audit_traffic as audit_traffic
from .traffic.judging import judge_traffic as judge_traffic
from .tuning.doors import compare_retrievers as compare_retrievers
from .verdict.verdict import read_verdict as read_verdict
from .version import __version__ as __version__
