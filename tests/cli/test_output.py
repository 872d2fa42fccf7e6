"""What the commands print and write."""

import json

from argus.cli import output as options
from argus.hidden import remember


def test_no_secret_is_printed(capsys):
    remember(keys=["key-of-an-endpoint-1"])
    options.say("d1 Bearer key-of-an-endpoint-1")
    options.print_json({"id": "key-of-an-endpoint-1", "k": 3})
    line, text = capsys.readouterr().out.split("\n", 1)
    assert line == "d1 Bearer ***" and json.loads(text) == {"id": "***", "k": 3}
