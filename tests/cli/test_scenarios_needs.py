"""`research scenarios needs`: real documents and their scenarios become a table and a report."""

from pathlib import Path

import pytest

FLOAT32 = ("--precision", "float32")


@pytest.fixture
def spike(shared, tmp_path):
    """The first documents of the released teacher data: corpus and profiles in one file."""
    source = shared("spike_scenarios") / "scenarios.jsonl"
    with source.open(encoding="utf-8") as lines:
        first = [next(lines) for _ in range(12)]
    path = tmp_path / "scenarios.jsonl"
    path.write_text("".join(first), encoding="utf-8")
    return path


@pytest.fixture
def run(argus, spike):
    """Run the audit; the file is corpus and profiles."""

    def go(*arguments, corpus=spike, profiles=spike):
        return argus(
            "research", "scenarios", "needs", "--corpus", corpus, "--profiles", profiles, "--out",
            "out",
            *FLOAT32, *arguments,
        )  # fmt: skip

    return go


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--component", "X"), "--component: 'X'; expected one of M, I, E, M+E, I+E"),
        (("--lambda", "0.5;0.7"), "--lambda: '0.5;0.7'; expected numbers"),
        (("--lambda", "1.5"), "--lambda: λ = 1.5; expected a number from 0"),
        (("--lambda", "nan"), "--lambda: λ = nan; expected a number from 0"),
    ],
)
def test_a_wrong_setting_is_named_and_leaves_no_folder(run, tmp_path, arguments, message):
    ran = run(*arguments)
    assert ran.code == 2 and message in ran.err and ran.out == ""
    assert not (tmp_path / "out").exists()


def test_fresh_does_not_delete_the_profiles_it_reads(run, spike):
    assert run("--limit", 3).code == 0
    inside = Path("out") / "profiles.jsonl"
    inside.write_bytes(spike.read_bytes())
    ran = run("--fresh", profiles=inside)
    assert ran.code == 2 and "--fresh would empty the folder that holds" in ran.err
    assert inside.is_file()
