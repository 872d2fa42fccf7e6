"""`argus generative stats`: figures in words, as JSON, and as a report."""

from __future__ import annotations

import json


def test_the_figures_are_printed(argus, ready, tmp_path):
    ran = argus("generative", "stats", ready.index, "--longest", "2")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0].startswith("10 passages of ")
    assert lines[1].endswith(" per token")
    assert lines[2].startswith("8 titles of ")
    assert lines[3:6] == [
        "1 passages without title",
        "1 titles are borne by several passages (most by 2: Bern)",
        "1 titles stand within others (Bern in Old city of Bern)",
    ]
    assert lines[6].startswith("3 pseudo-queries in 2 passages, 0-2 (median 0) per passage")
    assert [line.split()[0] for line in lines[-2:]] == ["1", "2"]
    assert not any(tmp_path.iterdir())


def test_json_and_a_report_on_request(argus, ready, tmp_path):
    ran = argus("generative", "stats", ready.index, "--longest", "1", "--out", "out", "--json")
    assert len(json.loads(ran.out)["ngrams"]) == 1
    assert (tmp_path / "out" / "ngram_profile.csv").is_file()
    assert "report: " in argus("generative", "stats", ready.index, "--out", "out").out


def test_what_is_no_index_is_refused(argus, ready):
    ran = argus("generative", "stats", ready.model)
    assert ran.code == 2
    assert "no n-gram index in it; expected a folder that `argus generative build`" in ran.err
    assert "is a file" in argus("generative", "stats", ready.corpus).err
