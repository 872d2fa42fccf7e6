from .benchmarks.job import (
    generate_benchmark as generate_benchmark,
    score_systems as score_systems,
    vocabulary_gap as vocabulary_gap,
)
from .config import (
    HarmConfig as HarmConfig,
    LintBounds as LintBounds,
    ScoreConfig as ScoreConfig,
)
from .domains import load_domain as load_domain
from .harm import measure_harm as measure_harm
from .opening import read_edges as read_edges
from .proposals import (
    accept_proposals as accept_proposals,
    propose_supersessions as propose_supersessions,
)
from .rules import Edge as Edge, Record as Record, Rule as Rule
from .stream import stream_authority as stream_authority
from .theory import check_conditions as check_conditions
from .variants import (
    expectation as expectation,
    map_frontier as map_frontier,
    safe_frontier as safe_frontier,
    scope_posterior as scope_posterior,
)
from .resolution import AuthorityRetriever as AuthorityRetriever, resolve as resolve
