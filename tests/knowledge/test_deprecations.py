import sys

from argus.knowledge.stdlib import deprecations, standard_library

# Read by eye on Python 3.11, 3.12 and 3.13; what is in the running interpreter is told by version.
ALWAYS = {
    ("abc.abstractclassmethod", "abc.abstractmethod"),
    ("ast.ExtSlice", "ast.Tuple"),
    ("locale.getdefaultlocale", "locale.getencoding"),
    ("threading.Condition.notifyAll", "threading.Condition.notify_all"),
    ("threading.Event.isSet", "threading.Event.is_set"),
}
# Some of those that later versions lack.
UP_TO_3_11 = {
    ("ast.Num", "ast.Constant"),
    ("configparser.RawConfigParser.readfp", "configparser.RawConfigParser.read_file"),
    ("importlib.resources.contents", "importlib.resources.files"),
    ("pkgutil.ImpImporter", "importlib"),
    ("zipimport.zipimporter.find_loader", "zipimport.zipimporter.find_spec"),
}


def test_deprecations_of_the_running_interpreter_are_those_read_by_eye() -> None:
    base = standard_library()
    pairs = {(d["deprecated_id"], d["replacement_id"]) for d in deprecations(base)}
    assert pairs >= ALWAYS
    if sys.version_info < (3, 12):
        assert pairs >= UP_TO_3_11
        assert 39 <= len(pairs) <= 42, "39 on Python 3.11, each read by eye"
