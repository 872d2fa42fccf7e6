"""Find deprecated names of the standard library and their replacements in its own texts.

The library is its own authority: "Deprecated, use read_file instead" in a docstring, and the text
of a DeprecationWarning that a function gives whenever it is called. Nothing is imported for it:
docstrings come from the walk of `argus.knowledge.stdlib`, warnings from the library's source.
"""

from __future__ import annotations

import ast
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from argus.knowledge.base import KnowledgeBase
from argus.knowledge.stdlib import SKIPPED, Member, walk_members

_NAME = r"[`'\"]*\.?([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(?:\([^()]*\))?[`'\"]*"
_STATED = re.compile(
    r"(?:^|(?<=[.:!*]\s)|(?<=[.:!]\s\s))\W{0,3}(?:(?:this|the)\s+(?:\w+\s+)?(?:is|are|has been)\s+|"
    r"(?P<subject>[\w.]+)(?:\(\))?\s+(?:is|has been)\s+)?deprecated\b",
    re.IGNORECASE,
)
_REPLACED = re.compile(
    r"\b(?:please\s+)?(?:use|in\s+favou?r\s+of|replaced\s+by)\s+(?:the\s+)?" + _NAME, re.IGNORECASE
)
_ANOTHER = re.compile(r"\s*+(?:,(?:\s*+(?:and|or))?|\band\b|\bor\b|\bwith\b)\s++" + _NAME)
_SINCE = re.compile(r"(?:since|as\s+of|deprecated\s+in)\s+(?:Python\s+)?(\d\.\d+)", re.IGNORECASE)
_REACH = 240
"""Characters after "deprecated" in which the replacement is looked for."""
_END = re.compile(r"\n\s*\n")
_STOP = re.compile(r"\.(?=\s|$)")


@dataclass(frozen=True, slots=True)
class Deprecation:
    """One entity that another one replaces.

    since: the version that deprecated it, "" where it is not said. evidence: the words that say so.
    source: docstring or warning.
    """

    deprecated_id: str
    replacement_id: str
    since: str
    evidence: str
    source: str


def deprecations(base: KnowledgeBase) -> list[Deprecation]:
    """Return which entities of the standard library are deprecated in favour of which others.

    base: `standard_library()`, or a part of it. Pairs with an entity outside of it are left out.
    Ordered by ids, one per pair, docstrings before warnings. Statements that name no entity ("use
    the name attribute") give none.
    """
    members = {member.name: member for member in walk_members()}
    texts = [(m.name, m.doc, "docstring") for m in members.values() if "eprecated" in m.doc]
    texts += [(name, text, "warning") for name, text in warned(members)]
    pairs: dict[tuple[str, str], Deprecation] = {}
    for name, text, source in texts:
        stated = replacements(members[name], text, members, warning=source == "warning")
        for replacement, since, evidence in stated:
            if name in base.index and replacement in base.index:
                entry = Deprecation(name, replacement, since, evidence, source)
                pairs.setdefault((name, replacement), entry)
    return [pairs[pair] for pair in sorted(pairs)]


def replacements(
    member: Member, text: str, members: Mapping[str, Member], *, warning: bool = False
) -> Iterator[tuple[str, str, str]]:
    """Yield (replacement, since, evidence) for every statement that `member` is deprecated.

    In a docstring a statement starts a sentence and is about the member itself: "Deprecated, use
    Y", "This method is deprecated ...", "name() is deprecated ...". The text of a warning that it
    always gives is such a statement as a whole. Of "use X or Y" both are taken.
    """
    for statement in [" ".join(text.split())] if warning else _statements(member, text):
        use = _REPLACED.search(statement)
        since = _SINCE.search(statement)
        for name, end in _names(statement, use):
            target = resolve(name, member, members)
            if target is not None and target != member.name:
                stop = _STOP.search(statement, end)
                evidence = statement[: stop.end() if stop else None].strip()
                yield target, since[1] if since else "", evidence


def _statements(member: Member, doc: str) -> Iterator[str]:
    for paragraph in _END.split(doc):
        words = " ".join(paragraph.split())
        for match in _STATED.finditer(words):
            subject = match["subject"]
            if subject is None or f".{member.name}".endswith(f".{subject}"):
                yield words[match.start() : match.end() + _REACH]


def _names(text: str, first: re.Match[str] | None) -> Iterator[tuple[str, int]]:
    """Yield the names of "X, Y and Z" and where each ends."""
    match = first
    while match is not None:
        yield match[1], match.end()
        match = _ANOTHER.match(text, match.end())


def resolve(name: str, member: Member, members: Mapping[str, Member]) -> str | None:
    """Return the member that `name` means in the documentation of `member`, None for none.

    Looked for in the class and its bases, then from the module outwards, then as a full name. A
    variable before the dot ("parser.read_file") stands for an instance of the class.
    """
    is_method = member.parent in members and members[member.parent].kind == "class"
    classes = list(_with_bases(members[member.parent], members)) if is_method else []
    scopes = [member.name] if member.kind == "module" else []
    outer = member.parent
    while outer:
        scopes.append(outer)
        outer = outer.rpartition(".")[0]
    for candidate in [f"{scope}.{name}" for scope in (*classes, *scopes)] + [name]:
        if candidate in members:
            return candidate
    head, _, last = name.rpartition(".")
    if classes and head.isidentifier() and head.islower() and head not in sys.stdlib_module_names:
        return next((f"{cls}.{last}" for cls in classes if f"{cls}.{last}" in members), None)
    return None


def _with_bases(member: Member, members: Mapping[str, Member]) -> Iterator[str]:
    """Yield a class and its base classes, nearest first."""
    made_at = {m.origin: m.name for m in members.values() if m.kind == "class"}
    queue, seen = [member.name], set[str]()
    while queue:
        name = queue.pop(0)
        if name in seen:
            continue
        seen.add(name)
        yield name
        queue += [made_at[b] for b in members[name].bases if b in made_at]


def warned(members: Mapping[str, Member]) -> Iterator[tuple[str, str]]:
    """Yield (member, text) of deprecation warnings that a function or class gives on every call.

    A warning under a condition is about an argument, mostly, and is left out.
    """
    for module, file in _source_files(members):
        source = file.read_text(encoding="utf-8", errors="replace")
        if "eprecat" not in source:
            continue
        tree = ast.parse(source)
        constants = _constants(tree.body)
        for qualified, texts in _definitions(tree.body, "", _wrappers(tree, constants), constants):
            name = _member_name(module, qualified, members)
            if name is not None:
                yield from ((name, text) for text in texts)


def _source_files(members: Mapping[str, Member]) -> Iterator[tuple[str, Path]]:
    """Yield module and file of the library's public packages, private modules in them included."""
    root = Path(sysconfig.get_path("stdlib"))
    tops = sorted({name.partition(".")[0] for name, m in members.items() if m.kind == "module"})
    for top in tops:
        folder = root / top
        inside = sorted(folder.rglob("*.py")) if folder.is_dir() else []
        for file in [root / f"{top}.py", *inside]:
            parts = file.relative_to(root).with_suffix("").parts
            if file.is_file() and not SKIPPED.intersection(parts):
                yield ".".join(part for part in parts if part != "__init__"), file


def _member_name(module: str, qualified: str, members: Mapping[str, Member]) -> str | None:
    """Return where a definition is documented: in its module, or in a package around it."""
    while module:
        if f"{module}.{qualified}" in members:
            return f"{module}.{qualified}"
        module = module.rpartition(".")[0]
    return None


def _definitions(
    body: Sequence[ast.stmt],
    prefix: str,
    wrappers: Mapping[str, list[str]],
    constants: Mapping[str, ast.expr],
) -> Iterator[tuple[str, list[str]]]:
    """Yield qualified names of functions and classes with the warnings that they always give."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield prefix + node.name, list(_decorated(node, wrappers))
            yield from _definitions(node.body, f"{prefix}{node.name}.", wrappers, constants)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            texts = [*_decorated(node, wrappers), *_warnings(node.body, constants)]
            name = prefix.removesuffix(".") if node.name in ("__init__", "__new__") else ""
            yield name or prefix + node.name, texts


def _warnings(body: Sequence[ast.stmt], outer: Mapping[str, ast.expr]) -> Iterator[str]:
    """Yield the texts of deprecation warnings among the statements themselves."""
    constants = {**outer, **_constants(body)}
    for node in body:
        if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
            continue
        call = node.value
        called = ast.unparse(call.func).rpartition(".")[2]
        if called == "_deprecated" and call.args:
            yield _private_warning(call, constants)
        elif called in ("warn", "_warn") and "DeprecationWarning" in ast.unparse(call):
            yield _text(call.args[0], constants) if call.args else ""


def _private_warning(call: ast.Call, constants: Mapping[str, ast.expr]) -> str:
    """Return the text of `warnings._deprecated(name, message, remove=(3, 15))`."""
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    message = keywords.get("message", call.args[1] if len(call.args) > 1 else None)
    removed = re.findall(r"\d+", ast.unparse(keywords["remove"])) if "remove" in keywords else []
    text = _text(message, constants) if message is not None else ""
    text = text.replace("{name!r}", _text(call.args[0], constants))
    return text.replace("{remove}", ".".join(removed))


def _wrappers(tree: ast.Module, constants: Mapping[str, ast.expr]) -> dict[str, list[str]]:
    """Return the decorators that a module makes for itself, with their wrappers' warnings."""
    return {
        node.name: [
            text
            for inner in node.body
            if isinstance(inner, ast.FunctionDef)
            for text in _warnings(inner.body, constants)
        ]
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
    }


def _decorated(
    node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, wrappers: Mapping[str, list[str]]
) -> Iterator[str]:
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Name):
            yield from (t.replace("{}", node.name) for t in wrappers.get(decorator.id, ()))
        elif isinstance(decorator, ast.Call) and decorator.args:
            called = ast.unparse(decorator.func).rpartition(".")[2]
            if called == "deprecated":  # warnings.deprecated of Python 3.13
                yield f"Deprecated. {_text(decorator.args[0], {})}"


def _constants(body: Iterable[ast.stmt]) -> dict[str, ast.expr]:
    return {
        target.id: node.value
        for node in body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _text(node: ast.expr, constants: Mapping[str, ast.expr]) -> str:
    """Return the text of an expression, {} for parts that are not known before it runs."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part, constants) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return _text(node.value, constants)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _text(node.left, constants) + _text(node.right, constants)
    if isinstance(node, ast.Name) and node.id in constants:
        return _text(constants[node.id], {k: v for k, v in constants.items() if k != node.id})
    if isinstance(node, ast.Attribute) and node.attr == "_DEPRECATED_MSG":
        return "{name!r} is deprecated and slated for removal in Python {remove}"
    return "{}"
