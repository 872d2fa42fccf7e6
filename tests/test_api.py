import ast
import dataclasses
import inspect
import json
import subprocess
import sys
import typing
from functools import cache
from pathlib import Path

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


def test_importing_the_knowledge_folder_loads_no_model_library():
    names = "CapitalisedNames Gazetteer GazetteerConfig Mention MentionFinder TokenClassifier"
    loaded = loaded_by(f"from argus.knowledge import {names.replace(' ', ', ')}")
    assert loaded == "[]"


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


def test_a_job_runs_by_its_public_name(tmp_path):
    section = {
        "tau": 0.3,
        "share_flagged": 0.5,
        "entities": {"measured": 2, "failed": 0, "not applicable": 0},
    }
    (tmp_path / "summary.json").write_text(json.dumps({"diagnosis": section}))
    result = argus.gate([tmp_path], argus.GateBounds(max_at_risk_share=0.4))
    assert isinstance(result, argus.GateResult) and result.exit_code == 1


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="No argus attribute audti"):
        argus.audti  # noqa: B018


def argus_types(hint):
    """Yield the classes of this package in a type, those inside it included."""
    for inner in hint if isinstance(hint, list) else typing.get_args(hint):
        yield from argus_types(inner)
    if isinstance(hint, type) and hint.__module__.startswith("argus"):
        yield hint


@cache
def names_in(module):
    """Return all names of a module, those that it imports for type checkers alone included."""
    names = dict(vars(sys.modules[module]))
    for node in ast.parse(Path(names["__file__"]).read_text("utf-8")).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            exec(compile(ast.Module(node.body, []), module, "exec"), names)
    return names


def hints_of(value):
    """Yield the types of a public name: of a function's signature; of a dataclass's fields;
    of a class's public methods and properties. The parts of a summary are read by their keys."""
    if dataclasses.is_dataclass(value):
        homes = [kind.__module__ for kind in value.__mro__ if kind.__module__.startswith("argus")]
        names = {name: v for home in reversed(homes) for name, v in names_in(home).items()}
        fields = typing.get_type_hints(value, localns=names)
        yield from (hint for name, hint in fields.items() if name[0] != "_")
    if inspect.isclass(value):
        for name, member in vars(value).items():
            if name[0] != "_":
                inner = getattr(member, "fget", None) or getattr(member, "func", None)
                yield from hints_of(inner or getattr(member, "__func__", member))
    elif inspect.isfunction(value):
        function = inspect.unwrap(value)
        yield from typing.get_type_hints(function, names_in(function.__module__)).values()


@pytest.mark.parametrize("name", argus.__all__)
def test_what_a_public_signature_names_is_public(name):
    kinds = {kind for hint in hints_of(getattr(argus, name)) for kind in argus_types(hint)}
    assert not [kind for kind in kinds if getattr(argus, kind.__name__, None) is not kind]
