import json

import pytest
from typer.testing import CliRunner

from argus.cli.main import app
from argus.errors import InputError


def run(*options: str):
    return CliRunner().invoke(app, ["plan", *options], catch_exceptions=False)


def test_the_papers_scale_is_planned_with_its_bottleneck():
    result = run("--entities", "7e6", "--dim", "1024", "--neighbours", "20")
    lines = result.stdout.splitlines()
    assert "7,000,000 entities x 1024" in lines[0] and "among 20,000" in lines[0]
    steps = ["load and ground", "relation graph", "encode", "rank", "score and write", "in all"]
    assert [line.split("  ")[0] for line in lines[2:8]] == steps
    assert lines[8].startswith("bottleneck: ")


def test_machines_read_the_same_plan_as_json():
    result = run("--entities", "1e5", "--price", "0.1", "--wikipedia-gb", "23", "--json")
    planned = json.loads(result.stdout)
    assert planned["steps"][0]["name"] == "read the dumps"
    assert planned["seconds"] == pytest.approx(sum(s["seconds"] for s in planned["steps"]))
    assert planned["cost"] == pytest.approx(planned["seconds"] / 3600 * 0.1)
    assert planned["workload"]["candidates"] == 20_000 and planned["fits"]


def test_what_does_not_fit_is_said_with_what_to_do():
    result = run("--entities", "1e9")
    assert "does not fit: " in result.stdout and "--sample" in result.stdout


def test_a_file_that_is_not_there_is_told():
    with pytest.raises(InputError, match="one of two-cores"):
        run("--hardware", "nowhere.json")


@pytest.mark.parametrize("number", ["nan", "-1", "1e400", "abc", "1"])
def test_entities_that_are_no_number_of_things_are_refused(number):
    with pytest.raises(InputError, match="--entities"):
        run("--entities", number)


@pytest.mark.parametrize(
    ("option", "value"),
    [("--parameters", "inf"), ("--parameters", "0"), ("--wikipedia-gb", "inf"),
     ("--stated", "inf")],
)  # fmt: skip
def test_other_numbers_are_refused_by_name(option, value):
    with pytest.raises(InputError, match=option):
        run(option, value)


@pytest.mark.parametrize("option", ["--words", "--wikidata-gb", "--neighbours", "--price"])
def test_what_is_no_number_is_no_use(option):
    result = run(option, "nan")
    assert result.exit_code == 2 and option in result.output


@pytest.mark.parametrize(
    "options",
    [("--entities", "1e6"), ("--dim", "384"), ("--wikipedia-gb", "3"), ("--machines", "2")],
)
def test_a_workload_says_nothing_to_a_measurement(options, tmp_path):
    with pytest.raises(InputError, match=f"{options[0]}: has no effect with --measure"):
        run("--measure", str(tmp_path / "h.json"), *options)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "options",
    [("--encoder", "all-MiniLM-L6-v2"), ("--wikipedia", "d.bz2"), ("--wikidata", "d.bz2")],
)
def test_what_a_measurement_takes_says_nothing_to_a_plan(options):
    with pytest.raises(InputError, match=f"{options[0]}: has no effect without --measure"):
        run(*options)


def test_the_default_of_what_dumps_state_is_the_models():
    from argus.planning import Workload

    planned = json.loads(run("--entities", "1e5", "--json").stdout)
    assert planned["workload"]["stated"] == Workload(entities=2).stated


@pytest.mark.slow
def test_a_machine_is_measured_into_a_file_that_plans(tmp_path, monkeypatch, shared):
    import sys

    from argus.planning import Sizes
    from argus.planning.trials import JOBS as TRIALS
    from argus.planning.trials_kb import JOBS as OF_KNOWLEDGE

    calibrate = sys.modules["argus.planning.calibrate"]
    tiny = Sizes(
        texts=(4, 12), queries=(1024, 2048), candidates=2_000, worst=(5, 20), explained_among=2_000,
        entities=(1_200, 2_400), neighbours=(4, 10, 20), dims=(16, 48), edges=(2_000, 20_000),
        aligned=(300, 900), indexed=(300, 900), dump_bytes=1,
    )  # fmt: skip
    monkeypatch.setattr(calibrate, "SIZES", tiny)
    monkeypatch.setattr(calibrate, "AUDITS", 1)
    jobs = TRIALS | OF_KNOWLEDGE  # in this process: fifteen starts take longer than all trials
    monkeypatch.setattr(
        calibrate, "run_trial", lambda _, job, *arguments: jobs[job](*map(str, arguments))
    )
    items = shared("wikidata_excerpt") / "sample_wikidata_items.json.bz2"
    file = tmp_path / "this.json"
    result = run("--measure", str(file), "--price", "0.5", "--wikidata", str(items), "--json")
    measured = json.loads(result.stdout)
    assert measured == json.loads(file.read_text()) and measured["name"] == "this"
    assert measured["price_per_hour"] == 0.5 and measured["encoder_window"] == 256
    assert measured["start_s"] > 0 and measured["encoder_parameters"] > 10**7
    from argus.planning import load_hardware

    shipped = load_hardware("two-cores")
    assert measured["wikidata_byte_s"] != shipped.wikidata_byte_s
    assert measured["wikipedia_byte_s"] == shipped.wikipedia_byte_s
    assert "bottleneck" in run("--hardware", str(file), "--entities", "1e5").stdout


def test_a_trial_runs_in_a_process_of_its_own():
    from argus.planning.calibrate import run_trial
    from argus.planning.records import DisplacingTrial

    trial = run_trial(DisplacingTrial, "displacing", 500, 4, 8, 10)
    assert trial.entities == 500 and 0 < trial.queries < 60 and trial.seconds > 0


def test_a_trial_that_fails_is_told_by_its_last_words(tmp_path):
    from argus.errors import ArgusError
    from argus.planning.calibrate import run_trial
    from argus.planning.records import DumpTrial

    with pytest.raises(ArgusError, match=r"Measuring dump failed: .*No such file"):
        run_trial(DumpTrial, "dump", "wikidata", tmp_path / "none.bz2", tmp_path / "work", 1)
