"""Links in a folder that Argus writes to: what they lead to stays as it is."""

import json
import os
import shutil

import pytest

COMMANDS = {
    "exposure": ("check", "--corpus", "c.jsonl", "--out", "place"),
    "report": ("report", "place"),
    "index build": ("index", "build", "--corpus", "c.jsonl", "--out", "place"),
    "index add": ("index", "add", "--corpus", "more.jsonl", "--index", "place"),
    "generative build": (
        *("research", "generative", "build", "--corpus", "c.jsonl", "--out", "place"),
        *("--tokenizer", "bpe:300"),
    ),
}
MADE_BY = {
    "exposure": ("exposure", "report"),
    "report": ("exposure", "report"),
    "index add": ("index build",),
    "generative build": ("generative build",),
}


def content(folder):
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder of folders as commands made them, each once."""
    return tmp_path_factory.mktemp("made")


@pytest.fixture
def place(argus, tmp_path, made):
    """Return what makes, once each, the folder that a command goes on with."""
    rows = [
        {"_id": str(n), "title": f"Bear {n}", "text": f"Bear {n} sleeps all winter. It eats {n}."}
        for n in range(6)
    ]
    for name, these in (("c", rows[:4]), ("more", rows)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(r) + "\n" for r in these))

    def make(command):
        kept = made / command
        if not kept.is_dir():
            for before in MADE_BY[command]:
                ran = argus(*COMMANDS[before])
                assert ran.code == 0, ran.err
            (tmp_path / "place").rename(kept)
        shutil.copytree(kept, tmp_path / "place")
        return tmp_path / "place"

    return make


def entries(folder):
    """Return the files and folders in a folder."""
    return sorted(p.relative_to(folder) for p in folder.rglob("*"))


@pytest.mark.parametrize("command", MADE_BY)
def test_no_command_changes_what_a_link_leads_to(argus, place, tmp_path, command):
    folder, pristine = place(command), tmp_path / "pristine"
    shutil.copytree(folder, pristine)
    for entry in entries(pristine):
        shutil.rmtree(folder)
        shutil.copytree(pristine, folder)
        victim = tmp_path / "home" / "victim"
        shutil.rmtree(victim.parent, ignore_errors=True)
        victim.parent.mkdir()
        (folder / entry).rename(victim)
        (folder / entry).symlink_to(victim)
        before = content(victim.parent)
        ran = argus(*COMMANDS[command])
        assert ran.code in (0, 1, 2), entry
        assert content(victim.parent) == before, entry


def test_a_link_to_a_file_of_argus_is_replaced_and_one_to_another_refused(argus, place, tmp_path):
    place("report")
    gate = ("gate", "place", "--max-never-retrieved-share", "1", "--junit")
    assert argus(*gate, "mine.xml").code == 0
    mine = (tmp_path / "mine.xml").stat().st_mtime_ns
    (tmp_path / "link.xml").symlink_to("mine.xml")
    assert argus(*gate, "link.xml").code == 0
    assert (tmp_path / "mine.xml").stat().st_mtime_ns == mine
    assert not (tmp_path / "link.xml").is_symlink()
    victim = tmp_path / "authorized_keys"
    victim.write_text("ssh-ed25519 mine\n")
    (tmp_path / "away.xml").symlink_to(victim)
    ran = argus(*gate, "away.xml")
    assert ran.code == 2 and "is there, and is not what this option writes" in ran.err
    assert victim.read_text() == "ssh-ed25519 mine\n"


@pytest.mark.parametrize("name", ["summary.json", "manifest.json", ".argus", "report.html"])
@pytest.mark.parametrize("kind", ["pipe", "zero", "sparse"])
def test_no_command_waits_for_or_swallows_what_is_no_result(argus, place, name, kind):
    folder = place("report")
    (folder / name).unlink()
    if kind == "pipe":
        os.mkfifo(folder / name)
    elif kind == "zero":
        (folder / name).symlink_to("/dev/zero")
    else:
        with (folder / name).open("wb") as file:
            file.truncate(6 << 30)
    for command in ("report", "exposure"):
        assert argus(*COMMANDS[command]).code in (0, 1, 2)


@pytest.mark.parametrize("name", ["c.jsonl", "q.jsonl", "r.tsv", "run.tsv"])
def test_a_pipe_that_nobody_fills_is_refused_by_name(argus, place, tmp_path, name):
    place("report")
    (tmp_path / "q.jsonl").write_text('{"_id": "q", "text": "bear"}\n')
    (tmp_path / "r.tsv").write_text("query-id\tcorpus-id\tscore\nq\t1\t1\n")
    (tmp_path / "run.tsv").write_text("q Q0 1 1 0.5 mine\n")
    (tmp_path / name).unlink()
    os.mkfifo(tmp_path / name)
    given = ("--corpus", "c.jsonl", "--queries", "q.jsonl", "--qrels", "r.tsv", "--run", "run.tsv")
    ran = argus("evaluate", *given, "--out", "out")
    assert ran.code == 2 and f"{name}: is a pipe" in ran.err, ran.err
