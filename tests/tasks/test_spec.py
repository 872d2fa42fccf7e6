"""How a task is named, and names of none."""

import pytest

from argus.errors import InputError
from argus.tasks.opening import open_task, parse_task_spec


def test_kind_place_and_settings():
    spec = parse_task_spec("bright:a,b/BRIGHT,domain=pony,long=yes")
    assert (spec.kind, str(spec.place)) == ("bright", "a,b/BRIGHT")
    assert spec.settings == {"domain": "pony", "long": "yes"}
    assert str(spec) == "bright:a,b/BRIGHT,domain=pony,long=yes"


def test_unknown_settings_are_refused(shared):
    with pytest.raises(InputError, match="setting 'domain'"):
        open_task(f"beir:{shared('cranfield')},domain=pony")
    with pytest.raises(InputError, match="yes or no"):
        open_task(f"beir:{shared('cranfield')},identical=maybe")


@pytest.mark.parametrize("spec", ["nowhere", "beir:nowhere", "magic:nowhere"])
def test_what_is_not_there_is_not_downloaded(spec):
    with pytest.raises(InputError, match="nothing is downloaded") as error:
        open_task(spec)
    assert error.value.where == spec
