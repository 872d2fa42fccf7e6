"""What goes out is whole: its Pythons are tried, and no release lacks an address or a version."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import argus

ROOT = Path(__file__).parents[2]
FILES = ("pyproject.toml", "CITATION.cff", "mkdocs.yml", "CHANGELOG.md")
URLS = "".join(f'{name} = "https://example.org/"\n'
               for name in ("Documentation", "Source", "Changelog", "Issues"))  # fmt: skip


@pytest.fixture
def check(tmp_path):
    """Return what checks a copy of the files that a release reads, and the copy's folder."""
    (tmp_path / "scripts").mkdir()
    script = shutil.copy(ROOT / "scripts" / "check_release.py", tmp_path / "scripts")
    for name in FILES:
        shutil.copy(ROOT / name, tmp_path)

    def run(*tag: str) -> tuple[int, str]:
        done = subprocess.run([sys.executable, script, *tag], capture_output=True, text=True)
        return done.returncode, done.stdout

    return run


def test_a_release_without_addresses_is_refused_and_a_build_warns(check):
    lacking = r"(?s)lacks Documentation, Source.*no repository-code.*no site_url.*docs/releasing.md"
    for tag, code in (((), 0), ((f"v{argus.__version__}",), 1)):
        done, says = check(*tag)
        assert done == code and re.search(lacking, says)


def test_a_release_that_is_whole_passes_and_another_tag_does_not(check, tmp_path):
    more = {"pyproject.toml": f"\n[project.urls]\n{URLS}", "CHANGELOG.md": "\n## 7.0.0 (today)\n",
            "CITATION.cff": "repository-code: https://example.org/\n",
            "mkdocs.yml": "site_url: https://example.org/\n"}  # fmt: skip
    for name, text in more.items():
        old = re.sub(r"(?m)^(version\W+)\d[\d.]+", r"\g<1>7.0.0", (ROOT / name).read_text())
        (tmp_path / name).write_text(old + text)
    assert check("v7.0.0") == (0, "")
    code, says = check("v7.0.1")
    assert code == 1 and "the tag is v7.0.1, the version 7.0.0" in says
    shutil.copy(ROOT / "CITATION.cff", tmp_path)
    code, says = check("v7.0.0")
    assert code == 1 and "its version is not 7.0.0" in says and "no repository-code" in says
