import pytest

from argus.demo.job import demo
from argus.errors import InputError


def test_a_limit_that_leaves_no_question_is_refused(tmp_path):
    with pytest.raises(InputError, match="no judged question") as refused:
        demo(out=tmp_path / "out", limit=40)
    assert refused.value.where == "--limit"
    assert not (tmp_path / "out").exists()
