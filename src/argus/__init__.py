"""Argus finds what a retriever does not reach.

>>> import argus
>>> result = argus.audit("corpus/", out="report/")  # doctest: +SKIP
>>> result.summary["mean_rps"]  # doctest: +SKIP

There is a function per command, here with its parameters and results: `audit` and `exposure`
measure reachability. `fit_probe`, `predict_rps` and `diagnose` predict it. `build_index`,
`repair_index`, `blend_index`, `adapt_index`, `expand_index`, `synthesize_index` and `rollback` mend
it. `audit_traffic` describes the questions of people. `rank_by_risk` and `judge_traffic` tell how
often these fail. `evaluate`, `compare_indexes`, `explain` and `gate` judge the outcome.
`read_verdict` names the next step, and `history` the changes from run to run. `profile_documents`,
`add_scenarios`, `audit_needs`, `ablate_scenarios`, `compare_answers`, `make_study` with
`read_preferences`, and `distill` index the needs that documents serve. `Authority`, `resolve`,
`lint`, `audit_authority` and `search_authority` keep superseded documents from being served.
`build_ngrams`, `train_generative` and `search_ngrams` retrieve by n-grams that a model writes.
`analyse_failures` says why they miss. `build_kb` makes knowledge bases of dumps and other sources,
`run_suite` asks retrievers x remedies x tasks in one run, and `reproduce` measures a paper's table
beside the published one. `start_project` writes the settings of all this into argus.toml, and
`check_up` tries them. Each job writes a folder of results. The pieces under them, such as the
measures of `argus.measures`, live in the folders that docs/architecture.md names. Importing this
package loads nothing heavy.
"""

import lazy_loader

from .commands import declare
from .extras import naming_extras

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__getattr__ = naming_extras()(__getattr__)


def _taken_by(command):
    from .cli.startable import options_of

    return options_of(command)


declare(_taken_by)
