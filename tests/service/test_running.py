"""The service as a process: where it listens, who it lets wait, and who holds its folders."""

import os
import re
import shutil
import signal
import subprocess
import sys

import httpx
import pytest

from argus.errors import ArgusError, InputError
from argus.service.app import folders_locked
from argus.service.workplace import STATE, open_workplace
from tests.runs.test_record import expose


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("work") / "report"
    expose(folder)
    return folder


def test_a_second_service_on_a_part_of_a_folder_or_around_it_says_so(report, tmp_path):
    around = tmp_path / "around"
    inner, beside = (shutil.copytree(report, around / "deep" / n) for n in ("inner", "beside"))
    shutil.copytree(report, around / "report")
    outer, part, other = (folders_locked(open_workplace([f])) for f in (around, inner, beside))
    with outer, pytest.raises(ArgusError, match=r"holds a lock of .*around, .*a service over all"):
        part.__enter__()
    outer, part = (folders_locked(open_workplace([f])) for f in (around, inner))
    with (
        part,
        other,  # which lies beside it
        pytest.raises(ArgusError, match=r"runs over .*around, or over a folder in it"),
    ):
        outer.__enter__()
    with folders_locked(open_workplace([around, inner, around])):
        pass


@pytest.mark.parametrize("linked", ["folder", "file"])
def test_a_link_out_of_the_folders_is_refused_where_the_service_keeps_its_files(
    report, tmp_path, linked
):
    folder = shutil.copytree(report, tmp_path / "report", ignore=shutil.ignore_patterns(STATE))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    if linked == "folder":
        (folder / STATE).symlink_to(elsewhere)
    else:
        (folder / STATE).mkdir()
        (folder / STATE / "jobs.sqlite").symlink_to(elsewhere / "jobs.sqlite")
    with pytest.raises(InputError, match=r"\.argus-serve.*is a link to .*elsewhere"):
        open_workplace([folder])
    assert not list(elsewhere.iterdir())


@pytest.mark.slow
def test_the_command_prints_its_token_once_and_is_back_after_a_kill(report):
    command = [
        sys.executable, "-c", "from argus.cli.main import main; main()", "serve", str(report),
        "--host", "0.0.0.0", "--port", "0",
    ]  # fmt: skip
    env = {name: text for name, text in os.environ.items() if name != "ARGUS_SERVE_TOKEN"}
    tokens = set()
    for end in (signal.SIGKILL, signal.SIGINT):
        process = subprocess.Popen(
            command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        try:
            port = int(re.search(r":(\d+)/", process.stdout.readline())[1])
            token = process.stdout.readline().removeprefix("token, shown once: ").strip()
            url = f"http://127.0.0.1:{port}/page/report/overview"
            assert httpx.get(url, timeout=120).status_code == 401
            bearer = {"authorization": f"Bearer {token}"}
            assert httpx.get(url, headers=bearer, timeout=120).status_code == 200
        finally:
            process.send_signal(end)
            out, errors = process.communicate(timeout=120)
        assert token not in out + errors
        tokens.add(token)
    assert process.returncode == 0 and len(tokens) == 2
