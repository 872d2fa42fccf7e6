"""Importing a library without what it needs for other purposes.

LanceDB imports a REST client of table catalogues, pydantic makes validators of its hundreds of
records, and on Python 3.11 `overrides` compares the signatures of all its methods: together most of
the time that its import takes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from threading import Lock
from typing import Any

from typing_extensions import override

_ONE_AT_A_TIME = Lock()


@contextmanager
def deferred(package: str) -> Iterator[None]:
    """Leave for their first use: `package`, and the validators of records that are defined inside.

    Submodules of `package` can be imported all the same.
    """
    from pydantic import BaseModel, ConfigDict

    with _ONE_AT_A_TIME:
        postpone(package)
        before = BaseModel.model_config
        BaseModel.model_config = ConfigDict(**{**before, "defer_build": True})
        try:
            yield
        finally:
            BaseModel.model_config = before


@contextmanager
def unchecked_overrides() -> Iterator[None]:
    """Let classes be defined without what `overrides` checks of every method of theirs.

    As if Python had an `override` of its own (3.12): libraries that use one or the other then
    leave `overrides` alone. Nothing happens where it is not installed.
    """
    if find_spec("overrides") is None:
        yield
        return
    overrides: Any = import_module("overrides")
    before = overrides.override, overrides.EnforceOverrides
    overrides.override, overrides.EnforceOverrides = override, type("EnforceOverrides", (), {})
    try:
        yield
    finally:
        overrides.override, overrides.EnforceOverrides = before


def postpone(package: str) -> None:
    """Let the submodules of a package be imported before the package itself runs.

    It runs when something of its own is asked for, as if it were imported then. Nothing happens
    where it runs already, or is not installed.
    """
    spec = find_spec(package) if package not in sys.modules else None
    if spec is None or spec.loader is None:
        return
    module, loader = module_from_spec(spec), spec.loader

    def run(name: str) -> Any:
        if vars(module).pop("__getattr__", None) is not None:
            loader.exec_module(module)
        try:
            return vars(module)[name]
        except KeyError:
            raise AttributeError(f"module {package!r} has no attribute {name!r}") from None

    vars(module)["__getattr__"] = run
    sys.modules[package] = module
