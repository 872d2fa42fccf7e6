from __future__ import annotations

import sys

import pytest

from argus.knowledge import KnowledgeBase
from argus.knowledge.deprecations import Deprecation, deprecations, replacements, resolve
from argus.knowledge.stdlib import Member, standard_library

# Read by eye on Python 3.11, 3.12 and 3.13; what is in the running interpreter is told by version.
ALWAYS = {
    ("abc.abstractclassmethod", "abc.abstractmethod"),
    ("abc.abstractclassmethod", "classmethod"),
    ("abc.abstractproperty", "abc.abstractmethod"),
    ("abc.abstractproperty", "property"),
    ("abc.abstractstaticmethod", "abc.abstractmethod"),
    ("abc.abstractstaticmethod", "staticmethod"),
    ("ast.ExtSlice", "ast.Tuple"),
    ("locale.getdefaultlocale", "locale.getencoding"),
    ("locale.getdefaultlocale", "locale.getlocale"),
    ("locale.getdefaultlocale", "locale.setlocale"),
    ("threading.Condition.notifyAll", "threading.Condition.notify_all"),
    ("threading.Event.isSet", "threading.Event.is_set"),
}
UP_TO_3_12 = {
    ("configparser.LegacyInterpolation", "configparser.BasicInterpolation"),
    ("configparser.LegacyInterpolation", "configparser.ExtendedInterpolation"),
    ("importlib.resources.contents", "importlib.resources.files"),
    ("importlib.resources.is_resource", "importlib.resources.files"),
    ("importlib.resources.open_binary", "importlib.resources.files"),
    ("importlib.resources.open_text", "importlib.resources.files"),
    ("importlib.resources.path", "importlib.resources.files"),
    ("importlib.resources.read_binary", "importlib.resources.files"),
    ("importlib.resources.read_text", "importlib.resources.files"),
    ("locale.resetlocale", "locale.setlocale"),
    ("re.template", "re.compile"),
    ("zipimport.zipimporter.load_module", "zipimport.zipimporter.exec_module"),
}
UP_TO_3_11 = {
    ("ast.Bytes", "ast.Constant"),
    ("ast.Ellipsis", "ast.Constant"),
    ("ast.NameConstant", "ast.Constant"),
    ("ast.Num", "ast.Constant"),
    ("ast.Str", "ast.Constant"),
    ("configparser.RawConfigParser.readfp", "configparser.RawConfigParser.read_file"),
    ("configparser.SafeConfigParser", "configparser.ConfigParser"),
    ("importlib.abc.Finder", "importlib.abc.MetaPathFinder"),
    ("importlib.abc.Finder", "importlib.abc.PathEntryFinder"),
    ("locale.format", "locale.format_string"),
    ("pathlib.Path.link_to", "pathlib.Path.hardlink_to"),
    ("pkgutil.ImpImporter", "importlib"),
    ("pkgutil.ImpLoader", "importlib"),
    ("zipimport.zipimporter.find_loader", "zipimport.zipimporter.find_spec"),
    ("zipimport.zipimporter.find_module", "zipimport.zipimporter.find_spec"),
}


@pytest.fixture(scope="module")
def base() -> KnowledgeBase:
    return standard_library()


@pytest.fixture(scope="module")
def entries(base: KnowledgeBase) -> list[Deprecation]:
    return deprecations(base)


def members(*given: Member) -> dict[str, Member]:
    return {member.name: member for member in given}


def member(name: str, kind: str = "function", bases: tuple[str, ...] = (), doc: str = "") -> Member:
    return Member(name, kind, name.rpartition(".")[0], name, bases, doc)


def test_the_running_interpreter_says_what_was_read_by_eye(entries: list[Deprecation]) -> None:
    pairs = {(d.deprecated_id, d.replacement_id) for d in entries}
    assert pairs >= ALWAYS
    if sys.version_info < (3, 13):
        assert pairs >= UP_TO_3_12
    if sys.version_info < (3, 12):
        assert pairs >= UP_TO_3_11
        assert 39 <= len(pairs) <= 42, "39 on Python 3.11, each read by eye"


@pytest.mark.parametrize(
    ("doc", "expected"),
    [
        ("Deprecated, use newer instead.", ["m.newer"]),
        ("Do it.\n\nDeprecated: use `newer`.", ["m.newer"]),
        ("older() is deprecated in favor of m.newer().", ["m.newer"]),
        ("This function has been deprecated. Please use newer or latest instead.",
         ["m.newer", "m.latest"]),
        ("**DEPRECATED** Use m.newer, latest and other instead.",
         ["m.newer", "m.latest", "m.other"]),
    ],
)  # fmt: skip
def test_the_ways_in_which_docstrings_say_it(doc: str, expected: list[str]) -> None:
    old = member("m.older")
    names = ("m.newer", "m.latest", "m.other")
    known = members(member("m", "module"), old, *map(member, names))
    assert [target for target, _, _ in replacements(old, doc, known)] == expected


def test_names_resolve_by_class_bases_module_then_in_full() -> None:
    known = members(
        member("m", "module"),
        member("m.C", "class", ("m.B",)),
        member("m.B", "class"),
        member("m.C.old"),
        member("m.B.use"),
        member("m.use"),
        member("use"),
        member("open"),
    )
    old = known["m.C.old"]
    assert resolve("use", old, known) == "m.B.use"
    assert resolve("m.use", old, known) == "m.use"
    assert resolve("open", old, known) == "open"
    assert resolve("instance.use", old, known) == "m.B.use"
    assert resolve("nothing", old, known) is None
    assert resolve("use", known["m.use"], known) == "m.use", "itself: left to the caller"
