import json

import pytest

from argus.authority.lint import LintSummary, lint
from argus.data.reading import read_record
from argus.errors import InputError
from tests.support.superseding import RUN, story_source, write_story


@pytest.fixture
def story(tmp_path):
    return write_story(tmp_path / "story")


def written(folder, section):
    return json.loads((folder / "summary.json").read_text())[section]


def keys_of(kind) -> set[str]:
    return kind.__required_keys__ | kind.__optional_keys__


def lint_summary(story, out):
    anchors = out.parent / "anchors.jsonl"
    anchors.write_text(json.dumps({"_id": "archive", "anchor": "flaw-1"}) + "\n")
    before = RUN | {"archive": RUN["archive"] | {"fix-1b": 9.0}}
    lint(RUN, story_source(story), before=before, queries=anchors, out=out)
    return written(out, "lint")


def test_a_lint_reads_back_as_its_record(story, tmp_path):
    summary = lint_summary(story, tmp_path / "out")
    assert read_record(LintSummary, summary, where=tmp_path, section="lint") == summary
    assert set(summary) == keys_of(LintSummary) - {"retriever"}
    assert summary["queries"]["without_anchor"] == 3


def test_a_lint_of_another_shape_is_refused_by_place(story, tmp_path):
    summary = lint_summary(story, tmp_path / "out")
    for path, value in (
        (("verdict",), "perhaps"),
        (("rates", "stale_hits", "share"), "half"),
        (("queries", "without_anchor"), None),
        (("relation", "rules", 0, "absent"), "patch"),
        (("violations", 0, "instead"), 7),
    ):
        damaged = json.loads(json.dumps(summary))
        inner = damaged
        for step in path[:-1]:
            inner = inner[step]
        inner[path[-1]] = value
        with pytest.raises(InputError) as error:
            read_record(LintSummary, damaged, where=tmp_path, section="lint")
        assert error.value.where.field.startswith(".".join(("lint", *map(str, path))))
