"""`argus scenarios needs`: real documents and their scenarios become a table and a report."""

import json
from pathlib import Path

import pyarrow.parquet as pq
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
            "scenarios", "needs", "--corpus", corpus, "--profiles", profiles, "--out", "out",
            *FLOAT32, *arguments,
        )  # fmt: skip

    return go


def test_real_documents_become_tables_a_summary_and_a_report(run, tmp_path):
    ran = run("--k", 2, "--pool", 10, "--component", "e, i+m", "--lambda", "0.9,0.5", "--json")
    assert ran.code == 2 and "component 'i+m'" in ran.err
    ran = run("--k", 2, "--pool", 10, "--component", "e,E+M", "--lambda", "0.9,0.5", "--json")
    assert ran.code == 0, ran.err
    summary, out = json.loads(ran.out), tmp_path / "out"
    assert json.loads((out / "summary.json").read_text())["needs"] == summary
    assert summary["documents"]["measured"] == 12 and summary["rps"] == {"k": 2, "pool": 10}
    assert [(c["component"], c["lambda"]) for c in summary["grid"]] == [
        ("E", 0.5), ("E", 0.9), ("M+E", 0.5), ("M+E", 0.9),
    ]  # fmt: skip
    needs = pq.read_table(out / "needs.parquet").to_pylist()
    assert len(needs) == summary["needs"]["total"] > 36
    assert all(1 <= row["rank_alone"] <= 12 for row in needs)
    assert "<html" in (out / "report.html").read_text()
    shown = run("--k", 2, "--pool", 10, "--component", "e,E+M", "--lambda", "0.9,0.5")
    first, second, third, risk, worth, *rest = shown.out.splitlines()
    at = rest.index("report: out/report.html")
    assert rest[at + 2].startswith("verdict: ") and "documents" in rest[at + 2]
    assert risk.startswith("at risk: 0 of 12 documents come into the top 2 for none of their needs")
    assert worth.startswith("what that order tells of real questions: measured elsewhere: AUC 0.66")
    assert first.startswith("none of 12 documents is out of reach of what it is for (RPS below ")
    assert "(M+E, λ = 0.5; each need's own held out) 0" in first
    share = summary["alone"]["found_at_1"]["mean"]
    assert second.startswith(f"found first of 12: {share:.1%} of a document's needs, ")
    assert "fewer than 6 documents changed" in second and "in the top 2 of 12" in third


def test_a_small_corpus_and_what_is_not_measured_are_told(run, spike, jsonl, tmp_path):
    corpus = [json.loads(line) for line in spike.read_text(encoding="utf-8").splitlines()]
    corpus = [{"_id": d["_id"], "text": d["text"]} for d in corpus[:6]]
    corpus.append({"_id": "other", "text": "A document without a profile."})
    ran = run(corpus=jsonl(tmp_path / "corpus.jsonl", corpus))
    assert ran.code == 0, ran.err
    told = ran.out.splitlines()
    assert told[0] == "only 7 documents: RPS at k=1, N=3 instead of k=10, N=800"
    assert "not measured: 1 no profile" in told
    assert "6 profiles are of documents that the corpus lacks" in told


def test_all_components_and_a_config_file(run, text, tmp_path):
    config = text(
        tmp_path / "argus.toml",
        '[scenarios.needs]\ncomponent = "all"\nlambda = [0.5, 0.9]\nk = 2\npool = 8\nlimit = 10',
    )
    ran = run("--json", "--config", config)
    assert ran.code == 0, ran.err
    summary = json.loads(ran.out)
    assert [c["component"] for c in summary["grid"][::2]] == ["M", "I", "E", "M+E", "I+E"]
    assert [c["lambda"] for c in summary["grid"][:2]] == [0.5, 0.9]
    assert summary["documents"]["total"] == 10 and summary["profiles_elsewhere"] == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--component", "X"), "--component: component 'X'; expected one of M, I, E, M+E, I+E"),
        (("--lambda", "0.5;0.7"), "--lambda: '0.5;0.7'; expected numbers from 0 to 1"),
        (("--lambda", "1.5"), "--lambda: λ = 1.5; expected a number from 0"),
        (("--lambda", "nan"), "--lambda: λ = nan; expected a number from 0"),
        (("--k", "9", "--pool", "5"), "--k: k=9 with a pool of N=5; expected k <= N"),
    ],
)
def test_a_wrong_setting_is_named_and_leaves_no_folder(run, tmp_path, arguments, message):
    ran = run(*arguments)
    assert ran.code == 2 and message in ran.err and ran.out == ""
    assert not (tmp_path / "out").exists()


def test_profiles_of_another_corpus_are_refused(run, corpus, tmp_path):
    ran = run(corpus=corpus)
    assert ran.code == 2
    assert "12 profiles, none of them of a document of the corpus" in ran.err
    assert "'d00'" in ran.err and "Check --profiles, --corpus" in ran.err
    assert not (tmp_path / "out").exists()


def test_fresh_does_not_delete_the_profiles_it_reads(run, spike):
    assert run("--limit", 3).code == 0
    inside = Path("out") / "profiles.jsonl"
    inside.write_bytes(spike.read_bytes())
    ran = run("--fresh", profiles=inside)
    assert ran.code == 2 and "--fresh would empty the folder that holds" in ran.err
    assert inside.is_file()
