import subprocess
import sys

import pytest

import argus

HEAVY = [
    "torch",
    "transformers",
    "sklearn",
    "numba",
    "pyarrow",
    "lancedb",
    "plotly",
    "bm25s",
    "xgboost",
    "numpy",
    "scipy",
]


def loaded_by(code):
    """Return the heavy libraries that a fresh interpreter has loaded after `code`."""
    code += f"\nimport sys; print(sorted(set({HEAVY!r}) & set(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    return ran.stdout.strip() or ran.stderr


def test_importing_the_package_loads_nothing_heavy():
    assert loaded_by("import argus; dir(argus)") == "[]"


@pytest.mark.parametrize("name", [name for name in argus.__all__ if name != "__version__"])
def test_every_public_name_is_there_and_says_what_it_is(name):
    assert name in dir(argus)
    assert getattr(argus, name).__doc__


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("start_project", "init"), ("check_up", "doctor"),
        ("audit", "audit"), ("exposure", "exposure"), ("diagnose", "diagnose"),
        ("fit_probe", "probe fit"), ("predict_rps", "probe predict"),
        ("build_index", "index build"),
        ("add_documents", "index add"), ("delete_documents", "index delete"),
        ("compact_index", "index compact"),
        ("expand_index", "remedy expand"), ("synthesize_index", "remedy synthesize"),
        ("rollback", "remedy rollback"), ("evaluate", "evaluate"), ("explain", "explain"),
        ("compare_folders", "compare"), ("gate", "gate"), ("open_retriever", "search"),
        ("adapt_index", "remedy adapt"), ("add_scenarios", "remedy scenarios"),
        ("audit_needs", "scenarios needs"),
        ("ablate_scenarios", "scenarios ablate"), ("compare_answers", "scenarios qa"),
        ("make_study", "scenarios study"), ("read_preferences", "scenarios preferences"),
        ("distill", "scenarios distill"), ("analyse_failures", "generative analyse"),
        ("build_kb", "kb build"), ("reach", "reach"),
        ("audit_traffic", "traffic audit"), ("judge_traffic", "traffic judge"),
        ("lint", "authority lint"), ("audit_authority", "authority audit"),
        ("search_authority", "authority search"), ("score_systems", "authority score"),
        ("generate_benchmark", "authority generate"),
        ("vocabulary_gap", "authority gap"), ("measure_harm", "authority harm"),
        ("propose_supersessions", "authority propose"),
        ("accept_proposals", "authority accept"),
        ("build_ngrams", "generative build"),
        ("train_generative", "generative train"), ("tune_generative", "generative tune"),
        ("search_ngrams", "generative search"),
    ],
)  # fmt: skip
def test_every_command_has_a_function(name, command):
    from typer.main import get_command

    from argus.cli.main import app

    found = get_command(app)
    for part in command.split():
        found = found.commands[part]
    assert callable(getattr(argus, name))
