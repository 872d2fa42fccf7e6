"""What an import leaves for later is all there when it is asked for."""

import subprocess
import sys

import pytest
from pydantic import BaseModel, ValidationError

from argus.indexes.deferral import deferred, postpone, unchecked_overrides

CLIENT = "lance_namespace_urllib3_client"


def python(code):
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


def test_lancedb_is_imported_without_the_rest_client(tmp_path):
    lines = python(
        "import sys\n"
        "from argus.indexes.table import import_lancedb\n"
        "lancedb = import_lancedb()\n"
        f"print([m for m in sys.modules if m.startswith('{CLIENT}.api')])\n"
        f"table = lancedb.connect({str(tmp_path)!r}).create_table('t', [{{'id': 'a'}}])\n"
        "print(table.count_rows(), import_lancedb() is lancedb)"
    )
    assert lines == ["[]", "1 True"]


def test_the_rest_client_is_whole_when_it_is_asked_for():
    lines = python(
        "from argus.indexes.table import import_lancedb\n"
        "import_lancedb()\n"
        f"import {CLIENT} as client\n"
        "print(client.models.__name__)\n"
        "print(client.TableApi.__name__, client.api.table_api.TableApi is client.TableApi)\n"
        f"from {CLIENT} import DescribeTableRequest\n"
        "print(DescribeTableRequest(id=['a']).id)\n"
        "try: client.nothing\n"
        "except AttributeError as error: print(error)\n"
        "try: DescribeTableRequest(id=7)\n"
        "except ValueError as error: print(type(error).__name__)"
    )
    assert lines == [
        f"{CLIENT}.models", "TableApi True", "['a']",
        f"module '{CLIENT}' has no attribute 'nothing'", "ValidationError",
    ]  # fmt: skip


def test_records_are_validated_as_ever(tmp_path, monkeypatch):
    (tmp_path / "later").mkdir()
    (tmp_path / "later" / "__init__.py").write_text("from later.part import VALUE\nRUN = []\n")
    (tmp_path / "later" / "part.py").write_text("VALUE = 3\n")
    monkeypatch.syspath_prepend(tmp_path)
    before = dict(BaseModel.model_config)
    with deferred("later"):
        from later.part import VALUE

        class Record(BaseModel):
            number: int

        assert VALUE == 3
        assert "RUN" not in vars(sys.modules["later"])
    assert BaseModel.model_config == before
    assert Record(number=4).number == 4
    with pytest.raises(ValidationError):
        Record(number="four")
    import later

    assert later.RUN == [] and later.part.VALUE == 3
    with pytest.raises(ZeroDivisionError), deferred("later"):
        raise ZeroDivisionError
    assert BaseModel.model_config == before


def test_nothing_is_postponed_that_runs_or_is_missing():
    there = sys.modules["json"]
    postpone("json")
    assert sys.modules["json"] is there
    postpone("no_such_package_anywhere")
    assert "no_such_package_anywhere" not in sys.modules


def test_overrides_are_checked_again_afterwards():
    overrides = pytest.importorskip("overrides")

    class Parent:
        def search(self, query): ...

    def other_signature():
        class Child(Parent):
            @overrides.override
            def search(self): ...

    with pytest.raises(TypeError):
        other_signature()
    with unchecked_overrides():
        other_signature()
    with pytest.raises(TypeError):
        other_signature()
