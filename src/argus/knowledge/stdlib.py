"""Make the sample corpus of `argus demo` from the docstrings of Python's standard library.

Entities are modules, classes, functions and methods, and those that belong together are related.
The judged questions, scenarios and deprecations that ship with Argus are read here, too.
`write_sample_corpus` writes it all as a BEIR folder.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import pkgutil
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from argus.data.documents import write_beir
from argus.data.types import Document, Qrels, Query
from argus.data.writing import write_jsonl
from argus.errors import ArgusError
from argus.knowledge.base import Entity, KnowledgeBase, RelationGraph

# Modules that open a browser or a window, print, run tests, or are documented under another name
# (posix as os, posixpath as os.path).
SKIPPED = frozenset(
    re.findall(
        r"\w+",
        "antigravity this idlelib lib2to3 distutils ensurepip test tests turtledemo turtle tkinter "
        "__main__ msilib nt ntpath posix posixpath genericpath",
    )
)
WITHOUT_SUBMODULES = frozenset(["encodings"])  # a hundred generated character tables


@dataclass(frozen=True, slots=True)
class Member:
    """One public member of the standard library.

    kind: module, class or function. parent: what contains it. origin: where a class was made, with
    those of its `bases`; of others the name. doc: the docstring, "" where there is none.
    """

    name: str
    kind: str
    parent: str
    origin: str
    bases: tuple[str, ...]
    doc: str

    @property
    def label(self) -> str:
        """The spoken name: a module by its full name, anything else by its last part.

        The qualified name as label would make an audit trivial: related members share a prefix.
        """
        return self.name if self.kind == "module" else self.name.rpartition(".")[2]


def module_names() -> list[str]:
    """Return the public standard modules and their public submodules, outer ones first."""
    # os is not a package: os.path is not found by looking for submodules
    queue = [*filter(_is_public, sys.stdlib_module_names), "os.path"]
    names = []
    while queue:
        name = queue.pop()
        try:
            module = importlib.import_module(name)
        except Exception:  # a module of another platform, or one built without its library
            continue
        names.append(name)
        if name not in WITHOUT_SUBMODULES:
            inside = pkgutil.iter_modules(getattr(module, "__path__", []))
            queue += [f"{name}.{info.name}" for info in inside if _is_public(info.name)]
    return sorted(names, key=lambda name: (name.count("."), name))


def _is_public(name: str) -> bool:
    return not name.startswith("_") and name not in SKIPPED


def public_members(module: ModuleType, name: str) -> list[tuple[str, Any]]:
    """Return the public names of a module (`__all__` where it has one).

    The module's own members come first, and a thing's own name before its aliases.
    """
    names = getattr(module, "__all__", None)
    if names is None:
        names = [n for n in vars(module) if not n.startswith("_")]
    members = [(n, getattr(module, n, None)) for n in sorted(set(names))]
    return sorted(
        ((n, value) for n, value in members if value is not None),
        key=lambda member: (
            getattr(member[1], "__module__", None) != name,
            getattr(member[1], "__name__", None) != member[0],
        ),
    )


def is_function(value: Any) -> bool:
    """Return whether `value` is a function, builtin, method descriptor, class or static method."""
    kinds = (inspect.isfunction, inspect.isbuiltin, inspect.ismethod, inspect.ismethoddescriptor)
    # random.choices is a method of a hidden instance
    return isinstance(value, (classmethod, staticmethod)) or any(kind(value) for kind in kinds)


def belongs(module: ModuleType, name: str, value: Any, public: frozenset[str]) -> bool:
    """Return whether the module called `name` is where `value` is documented.

    An object says where it was made. Made in a private or undocumented module, it belongs to the
    module that lists it in `__all__`, or whose compiled half made it (`_bisect` for `bisect`). Made
    in a submodule, to the package that exports it.
    """
    origin = getattr(value, "__module__", None) or name
    if origin == name or origin == f"_{name.rpartition('.')[2]}":
        return True
    exported = hasattr(module, "__all__")
    return exported and (origin not in public or origin.startswith(f"{name}."))


def walk() -> Iterator[Member]:
    """Yield every module, class, function and method once, under its first public name."""
    seen: set[int] = set()
    names = module_names()
    public = frozenset(names)
    for module_name in names:
        module = importlib.import_module(module_name)  # again: it was found importable
        prefix = "" if module_name == "builtins" else f"{module_name}."
        yield _member(module_name, "module", module_name.rpartition(".")[0], module)
        for name, value in public_members(module, module_name):
            if id(value) in seen or not belongs(module, module_name, value, public):
                continue
            if inspect.isclass(value):
                seen.add(id(value))
                yield _member(f"{prefix}{name}", "class", module_name, value)
                yield from _methods(f"{prefix}{name}", value, public, seen)
            elif is_function(value):
                seen.add(id(value))
                yield _member(f"{prefix}{name}", "function", module_name, value)


def _methods(qualified: str, cls: type, public: frozenset[str], seen: set[int]) -> Iterator[Member]:
    """Yield the methods a class defines, and those it has from undocumented (C) base classes."""
    names: set[str] = set()
    for base in cls.__mro__:
        if base is not cls and (base.__module__ in public or base is object):
            continue
        for name, value in sorted(vars(base).items()):
            if name.startswith("_") or name in names or id(value) in seen or not is_function(value):
                continue
            names.add(name)
            seen.add(id(value))
            yield _member(f"{qualified}.{name}", "function", qualified, value)


def _member(name: str, kind: str, parent: str, value: Any) -> Member:
    raw = getattr(value, "__doc__", None)
    is_class = kind == "class"
    return Member(
        *(name, kind, parent, _origin(value) if is_class else name),
        bases=tuple(_origin(base) for base in value.__bases__) if is_class else (),
        doc=inspect.cleandoc(raw) if isinstance(raw, str) else "",
    )


def _origin(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def main() -> None:
    """Write the members to the standard output, which imported modules cannot reach."""
    warnings.simplefilter("ignore")
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # whatever a module prints goes nowhere
    for member in walk():
        out.write(json.dumps(asdict(member)) + "\n")
    out.flush()
    os._exit(0)  # skip the exit handlers of everything that was imported


if __name__ == "__main__":
    main()


WALK_TIMEOUT_S = 120

_SIGNATURE = re.compile(r"[\w.]+\(.*\)(\s*-+>.*)?", re.DOTALL)
_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_LOOKS_LIKE_CODE = re.compile(r"[._]|[a-z][A-Z]")


def standard_library() -> KnowledgeBase:
    """Return the standard library of the running interpreter as a knowledge base."""
    members = [m for m in walk_members() if m.doc]
    entities = [Entity(m.name, m.label, first_paragraph(m.doc)) for m in members]
    return KnowledgeBase(entities, relate(members))


@cache
def walk_members() -> list[Member]:
    """List the members in a fresh, isolated process (imports have side effects)."""
    command = [sys.executable, "-I", "-m", "argus.knowledge.stdlib"]
    result = subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", timeout=WALK_TIMEOUT_S
    )
    if result.returncode != 0:
        raise ArgusError(
            "Reading the standard library failed: "
            f"`{' '.join(command)}` exited {result.returncode}; expected 0.\n"
            f"{result.stderr[-2000:]}"
            "\nIs argus installed in the environment of this interpreter?"
        )
    records = (json.loads(line) for line in result.stdout.splitlines())
    unique = {r["name"]: Member(**{**r, "bases": tuple(r["bases"])}) for r in records}
    return [unique[name] for name in sorted(unique)]


def standard_reference(base: KnowledgeBase) -> list[Document]:
    """Return the reference knowledge base of the sample: later parts of docstrings.

    One passage per entity of `base` whose docstring has more than the first paragraph, which alone
    is in the corpus. Made from the library by this rule, whatever is asked of it.
    """
    passages = []
    for member in walk_members():
        whole = " ".join(member.doc.split())
        rest = whole.removeprefix(first_paragraph(member.doc)).strip()
        if member.name in base.index and rest:
            passages.append(Document(member.name, rest, member.name))
    return passages


def first_paragraph(doc: str) -> str:
    """Return the docstring's first paragraph, and the next one where the first is a signature."""
    paragraphs = [" ".join(p.split()) for p in re.split(r"\n\s*\n", doc) if p.strip()]
    if len(paragraphs) > 1 and _SIGNATURE.fullmatch(paragraphs[0]):
        return f"{paragraphs[0]} {paragraphs[1]}"
    return paragraphs[0] if paragraphs else ""


def relate(members: Sequence[Member]) -> RelationGraph:
    """Build the graph of contains, inherits and refers-to-by-name over `members`.

    Names in a docstring are resolved as they are, then in the member's class and module. A plain
    word ("set", "open") counts only where it is called, as in `open()`.
    """
    index = {m.name: i for i, m in enumerate(members)}
    made_at = {m.origin: i for i, m in enumerate(members)} | index
    edges: list[tuple[int, int]] = []
    for i, member in enumerate(members):
        parent = member.parent
        while parent and parent not in index:  # without a docstring
            parent = parent.rpartition(".")[0]
        related = [index.get(parent)]
        bases = (base.removeprefix("builtins.") for base in member.bases)
        related += [made_at.get(base) for base in bases if base != "object"]
        text = first_paragraph(member.doc)
        scopes = ["", f"{member.name}.", f"{member.parent}."]
        scopes += [f"{member.parent.rpartition('.')[0]}."] if "." in member.parent else []
        for match in _NAME.finditer(text):
            name = match.group()
            if _LOOKS_LIKE_CODE.search(name) or text.startswith("()", match.end()):
                related += [index.get(scope + name) for scope in scopes]
        edges += [(i, j) for j in related if j is not None]
    ends = np.array(edges, np.int64).reshape(-1, 2)
    return RelationGraph.from_edges(len(members), ends[:, 0], ends[:, 1])


def standard_questions() -> tuple[list[Query], Qrels]:
    """Return the judged questions that ship with Argus: how people ask for these entities.

    Written for this project. Gold entities are names of the standard library. Those that the
    running interpreter does not document are left out, and a question without any goes with them.
    """
    rows = _rows("stdlib_questions.jsonl")
    queries = [Query(r["_id"], r["text"]) for r in rows]
    return queries, {r["_id"]: dict.fromkeys(r["gold"], 1) for r in rows}


def standard_scenarios(base: KnowledgeBase) -> list[dict[str, Any]]:
    """Return the scenario profiles of entities of `base` that ship with Argus, by id.

    Written for this project after SPIKE Table 8, from each entity's text alone and without sight of
    the questions: of all that some question wants, of as many documents that lie nearest to those,
    and of 34 drawn at random. The sample teacher set. Keys: _id, main_topic, key_aspects, and
    scenarios of information_need and explanation.
    """
    return [row for row in _rows("stdlib_scenarios.jsonl") if row["_id"] in base.index]


def deprecations(base: KnowledgeBase) -> list[dict[str, Any]]:
    """Return which entities of `base` are deprecated in favour of which others, by id.

    The library is its own authority. The list that ships holds what the docstrings of Python 3.11
    to 3.13 state, and the warnings that a function gives whenever it is called. Keys:
    deprecated_id, replacement_id, since (the version that deprecated it, "" where it is not said),
    evidence (the words that say so), source (docstring or warning) and pythons (that say so).
    """
    python = f"3.{min(sys.version_info.minor, 13)}"
    rows = [row for row in _rows("stdlib_deprecations.jsonl") if python in row["pythons"]]
    return [
        row for row in rows if {row["deprecated_id"], row["replacement_id"]} <= base.index.keys()
    ]


def _rows(name: str) -> list[dict[str, Any]]:
    """Return the rows of a file that ships."""
    text = files("argus.knowledge").joinpath(name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def sample_questions(base: KnowledgeBase) -> tuple[list[Query], Qrels]:
    """Return the judged questions that ship whose answers, or some of them, are in `base`."""
    queries, qrels = standard_questions()
    answerable = {
        query_id: here
        for query_id, gold in qrels.items()
        if (here := {doc: grade for doc, grade in gold.items() if doc in base.index})
    }
    return [q for q in queries if q.id in answerable], answerable


def write_sample_corpus(folder: Path, base: KnowledgeBase) -> tuple[list[Query], Qrels]:
    """Write `base` as a BEIR folder. Return the judged questions that can be asked of it.

    Beside it the scenarios that ship, profiles.jsonl, and of the same writer three pseudo-queries
    and a summary of each of these entities, expansions.jsonl.
    """
    queries, answerable = sample_questions(base)
    documents = (Document(e.id, e.paragraph, title=e.id) for e in base.entities)
    write_beir(folder, documents, queries, answerable)
    write_jsonl(folder / "profiles.jsonl", standard_scenarios(base))
    expansions = (row for row in _rows("stdlib_expansions.jsonl") if row["_id"] in base.index)
    write_jsonl(folder / "expansions.jsonl", expansions)
    return queries, answerable
