"""Advisories and releases in the shapes in which OSV and GitHub publish them (shortened)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from argus.authority.domains import load_domain
from argus.authority.relation import Authority
from argus.authority.rules import Record

LOG4SHELL = {
    "schema_version": "1.4.0",
    "id": "GHSA-jfh8-c2jp-5v3q",
    "modified": "2024-02-16T08:16:33.127431Z",
    "published": "2021-12-10T00:40:56Z",
    "aliases": ["CVE-2021-44228"],
    "related": ["CGA-2wjv-23vr-8mvv"],
    "summary": "Remote code injection in Log4j",
    "details": "Log4j versions prior to 2.16.0 are subject to a remote code execution "
    "vulnerability via the ldap JNDI parser.",
    "severity": [{"type": "CVSS_V3", "score": "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H"}],
    "affected": [
        {
            "package": {
                "ecosystem": "Maven",
                "name": "org.apache.logging.log4j:log4j-core",
                "purl": "pkg:maven/org.apache.logging.log4j/log4j-core",
            },
            "ranges": [
                {"type": "ECOSYSTEM", "events": [{"introduced": "2.13.0"}, {"fixed": "2.15.0"}]}
            ],
            "database_specific": {"source": "https://github.com/github/advisory-database"},
        },
        {
            "package": {"ecosystem": "Maven", "name": "com.guicedee.services:log4j-core"},
            "ranges": [
                {
                    "type": "ECOSYSTEM",
                    "events": [{"introduced": "0"}, {"last_affected": "1.2.1.2-jre17"}],
                }
            ],
        },
    ],
    "references": [
        {"type": "ADVISORY", "url": "https://nvd.nist.gov/vuln/detail/CVE-2021-44228"},
        {"type": "WEB", "url": "https://github.com/apache/logging-log4j2/pull/608"},
    ],
    "database_specific": {
        "cwe_ids": ["CWE-20", "CWE-400", "CWE-502", "CWE-917"],
        "github_reviewed": True,
        "github_reviewed_at": "2021-12-10T00:40:41Z",
        "nvd_published_at": "2021-12-10T10:15:00Z",
        "severity": "CRITICAL",
    },
}
WITHDRAWN = {
    "schema_version": "1.4.0",
    "id": "GHSA-6r92-cgxc-r5fg",
    "modified": "2022-06-22T16:04:00Z",
    "published": "2020-09-01T18:38:34Z",
    "withdrawn": "2022-06-22T16:04:00Z",
    "aliases": [],
    "summary": "Withdrawn: Denial of Service in a parser",
    "details": "This advisory was withdrawn because the report could not be confirmed.",
    "affected": [
        {
            "package": {"ecosystem": "npm", "name": "some-parser"},
            "ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}, {"fixed": "1.2.3"}]}],
        }
    ],
    "references": [],
}
PYSEC = {
    "id": "PYSEC-2021-98",
    "modified": "2021-06-10T06:51:37.378319Z",
    "published": "2021-06-08T18:15:00Z",
    "aliases": ["CVE-2021-33571", "GHSA-p99v-5w3c-jqq9"],
    "details": "In Django 2.2 before 2.2.24, URLValidator accepts leading zeros in octets.",
    "affected": [
        {
            "package": {"ecosystem": "PyPI", "name": "django", "purl": "pkg:pypi/django"},
            "ranges": [
                {
                    "type": "ECOSYSTEM",
                    "events": [
                        {"introduced": "2.2"},
                        {"fixed": "2.2.24"},
                        {"introduced": "3.2"},
                        {"fixed": "3.2.4"},
                    ],
                }
            ],
            "versions": ["2.2", "2.2.1"],
        }
    ],
    "references": [
        {"type": "WEB", "url": "https://docs.djangoproject.com/en/3.2/releases/security/"},
        {"type": "WEB", "url": "https://github.com/django/django/releases/tag/3.2.4#notes"},
    ],
}
REST = {
    "ghsa_id": "GHSA-43fc-jf86-j433",
    "cve_id": "CVE-2026-25639",
    "url": "https://api.github.com/advisories/GHSA-43fc-jf86-j433",
    "html_url": "https://github.com/advisories/GHSA-43fc-jf86-j433",
    "summary": "Axios is vulnerable to denial of service via the __proto__ key in mergeConfig",
    "description": "The mergeConfig function crashes when given a configuration object with "
    "__proto__ as an own property.",
    "type": "reviewed",
    "severity": "high",
    "repository_advisory_url": None,
    "source_code_location": "https://github.com/axios/axios",
    "identifiers": [
        {"value": "GHSA-43fc-jf86-j433", "type": "GHSA"},
        {"value": "CVE-2026-25639", "type": "CVE"},
    ],
    "references": [
        "https://github.com/axios/axios/security/advisories/GHSA-43fc-jf86-j433",
        "https://github.com/axios/axios/releases/tag/v1.13.5",
        "https://github.com/axios/axios/releases/tag/v0.30.3",
        "https://github.com/advisories/GHSA-43fc-jf86-j433",
    ],
    "published_at": "2026-02-09T17:46:14Z",
    "updated_at": "2026-02-18T15:55:00Z",
    "github_reviewed_at": "2026-02-09T17:46:14Z",
    "nvd_published_at": None,
    "withdrawn_at": None,
    "vulnerabilities": [
        {
            "package": {"ecosystem": "npm", "name": "axios"},
            "vulnerable_version_range": ">= 1.0.0, <= 1.13.4",
            "first_patched_version": "1.13.5",
            "vulnerable_functions": [],
        },
        {
            "package": {"ecosystem": "npm", "name": "axios"},
            "vulnerable_version_range": "<= 0.30.2",
            "first_patched_version": "0.30.3",
            "vulnerable_functions": [],
        },
    ],
    "cwes": [{"cwe_id": "CWE-754", "name": "Improper Check for Unusual or Exceptional Conditions"}],
    "credits": [],
}


def release(repository: str, tag: str, body: str, published: str, number: int) -> dict[str, Any]:
    api = f"https://api.github.com/repos/{repository}/releases/{number}"
    return {
        "url": api,
        "html_url": f"https://github.com/{repository}/releases/tag/{tag}",
        "assets_url": f"{api}/assets",
        "upload_url": f"https://uploads.github.com/repos/{repository}/releases/{number}/assets",
        "id": number,
        "node_id": "RE_kwDOAnHSmc4",
        "tag_name": tag,
        "target_commitish": "main",
        "name": "",
        "draft": False,
        "prerelease": False,
        "created_at": published,
        "published_at": published,
        "assets": [],
        "author": {"login": "octocat", "id": 1, "type": "User", "site_admin": False},
        "tarball_url": f"https://api.github.com/repos/{repository}/tarball/{tag}",
        "zipball_url": f"https://api.github.com/repos/{repository}/zipball/{tag}",
        "body": body,
    }


RELEASES = [
    release("axios/axios", "v1.13.5", "Fix merging of own keys.", "2026-02-08T12:00:00Z", 2810),
    release("axios/axios", "v0.30.3", "Backport the fix.", "2026-02-08T13:00:00Z", 2811),
    release("axios/axios", "v1.13.4", "Fix a typo.", "2026-01-27T12:00:00Z", 2790),
    release("django/django", "3.2.4", "Validate octets.", "2021-06-02T09:00:00Z", 1234),
]


@pytest.fixture
def records(tmp_path: Path) -> list[Record]:
    for folder in ("osv/Maven", "osv/npm", "osv/PyPI", "github"):
        (tmp_path / folder).mkdir(parents=True)
    for folder, advisory in (("Maven", LOG4SHELL), ("npm", WITHDRAWN), ("PyPI", PYSEC)):
        path = tmp_path / "osv" / folder / f"{advisory['id']}.json"
        path.write_text(json.dumps(advisory, indent=2))
    (tmp_path / "github" / "advisories.json").write_text(json.dumps([REST]))
    (tmp_path / "github" / "releases.json").write_text(json.dumps(RELEASES))
    return load_domain("security").read(tmp_path)


@pytest.fixture
def authority(records: list[Record]) -> Authority:
    return Authority(records, load_domain("security").rules)


def by_id(records: list[Record]) -> dict[str, Record]:
    return {record.id: record for record in records}


def page(tag: str, repository: str = "axios/axios") -> str:
    return f"https://github.com/{repository}/releases/tag/{tag}"


def test_a_folder_of_all_kinds_is_read(records: list[Record]) -> None:
    assert {r.id: r.type for r in records} == {
        "GHSA-43fc-jf86-j433": "advisory",
        "GHSA-jfh8-c2jp-5v3q": "advisory",
        "GHSA-6r92-cgxc-r5fg": "advisory",
        "GHSA-6r92-cgxc-r5fg#withdrawn": "withdrawal",
        "PYSEC-2021-98": "advisory",
        page("v1.13.5"): "release_note",
        page("v0.30.3"): "release_note",
        page("v1.13.4"): "release_note",
        page("3.2.4", "django/django"): "release_note",
    }


def test_an_osv_advisory(records: list[Record]) -> None:
    record = by_id(records)["GHSA-jfh8-c2jp-5v3q"]
    assert record.title == "Remote code injection in Log4j"
    assert record.text.startswith("Remote code injection in Log4j\n\nLog4j versions prior")
    assert str(record.time) == "2021-12-10T00:40:56Z"
    assert record.scope == {
        "advisory": "GHSA-jfh8-c2jp-5v3q",
        "cve": "CVE-2021-44228",
        "package": (
            "Maven/org.apache.logging.log4j:log4j-core",
            "Maven/com.guicedee.services:log4j-core",
        ),
    }
    assert record.metadata["fixed"] == ["2.15.0"]
    assert record.metadata["severity"] == "CRITICAL"


def test_a_rest_advisory(records: list[Record]) -> None:
    record = by_id(records)["GHSA-43fc-jf86-j433"]
    assert record.scope == {
        "advisory": "GHSA-43fc-jf86-j433",
        "cve": "CVE-2026-25639",
        "package": "npm/axios",
        "release": (page("v1.13.5"), page("v0.30.3")),
    }
    assert record.metadata["fixed"] == ["1.13.5", "0.30.3"]
    assert "withdrawn" not in record.metadata


def test_a_file_of_something_else_is_told(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"message": "Not Found", "status": "404"}')
    with pytest.raises(Exception, match="no record shape of 'security' matches an object with"):
        load_domain("security").read(tmp_path / "x.json")
