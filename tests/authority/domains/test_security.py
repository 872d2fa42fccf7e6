"""Advisories and releases in the shapes in which OSV and GitHub publish them (shortened)."""

import json
from pathlib import Path
from typing import Any

import pytest

from argus.authority.domains import load_domain
from argus.authority.relation import Authority
from argus.errors import InputError


def page(tag: str, repository: str = "axios/axios") -> str:
    return f"https://github.com/{repository}/releases/tag/{tag}"


LOG4SHELL = {
    "schema_version": "1.4.0",
    "id": "GHSA-jfh8-c2jp-5v3q",
    "modified": "2024-02-16T08:16:33.127431Z",
    "published": "2021-12-10T00:40:56Z",
    "aliases": ["CVE-2021-44228"],
    "summary": "Remote code injection in Log4j",
    "details": "Log4j versions prior to 2.16.0 are subject to a remote code execution.",
    "affected": [
        {
            "package": {"ecosystem": "Maven", "name": "org.apache.logging.log4j:log4j-core"},
            "ranges": [{"events": [{"introduced": "2.13.0"}, {"fixed": "2.15.0"}]}],
        },
        {
            "package": {"ecosystem": "Maven", "name": "com.guicedee.services:log4j-core"},
            "ranges": [{"events": [{"introduced": "0"}, {"last_affected": "1.2.1.2-jre17"}]}],
        },
    ],
    "references": [{"type": "WEB", "url": "https://github.com/apache/logging-log4j2/pull/608"}],
    "database_specific": {"cwe_ids": ["CWE-20"], "severity": "CRITICAL"},
}
WITHDRAWN = {
    "id": "GHSA-6r92-cgxc-r5fg",
    "modified": "2022-06-22T16:04:00Z",
    "published": "2020-09-01T18:38:34Z",
    "withdrawn": "2022-06-22T16:04:00Z",
    "aliases": [],
    "summary": "Withdrawn: Denial of Service in a parser",
    "affected": [{"package": {"ecosystem": "npm", "name": "some-parser"}}],
}
PYSEC = {
    "id": "PYSEC-2021-98",
    "modified": "2021-06-10T06:51:37.378319Z",
    "aliases": ["CVE-2021-33571", "GHSA-p99v-5w3c-jqq9"],
    "details": "In Django 2.2 before 2.2.24, URLValidator accepts leading zeros in octets.",
    "references": [{"type": "WEB", "url": f"{page('3.2.4', 'django/django')}#notes"}],
}
REST = {
    "ghsa_id": "GHSA-43fc-jf86-j433",
    "cve_id": "CVE-2026-25639",
    "summary": "Axios is vulnerable to denial of service",
    "description": "The mergeConfig function crashes.",
    "references": [
        "https://github.com/axios/axios/security/advisories/GHSA-43fc-jf86-j433",
        page("v1.13.5"),
        page("v0.30.3"),
    ],
    "published_at": "2026-02-09T17:46:14Z",
    "withdrawn_at": None,
    "vulnerabilities": [
        {"package": {"ecosystem": "npm", "name": "axios"}, "first_patched_version": "1.13.5"},
        {"package": {"ecosystem": "npm", "name": "axios"}, "first_patched_version": "0.30.3"},
    ],
}


def release(tag: str, repository: str, body: str, published: str) -> dict[str, Any]:
    url = page(tag, repository)
    return {"html_url": url, "tag_name": tag, "name": "", "body": body, "published_at": published}


RELEASES = [
    release("v1.13.5", "axios/axios", "Fix merging of own keys.", "2026-02-08T12:00:00Z"),
    release("v0.30.3", "axios/axios", "Backport the fix.", "2026-02-08T13:00:00Z"),
    release("3.2.4", "django/django", "Validate octets.", "2021-06-02T09:00:00Z"),
]


def test_a_folder_of_advisories_and_releases_leads_from_flaw_to_fix(tmp_path: Path) -> None:
    (tmp_path / "osv" / "npm").mkdir(parents=True)
    for advisory in (LOG4SHELL, WITHDRAWN, PYSEC):
        (tmp_path / "osv" / "npm" / f"{advisory['id']}.json").write_text(json.dumps(advisory))
    (tmp_path / "advisories.json").write_text(json.dumps([REST]))
    (tmp_path / "releases.json").write_text(json.dumps(RELEASES))
    domain = load_domain("security")
    records = {record.id: record for record in domain.read(tmp_path)}
    assert {r.id: r.type for r in records.values()} == {
        "GHSA-43fc-jf86-j433": "advisory",
        "GHSA-jfh8-c2jp-5v3q": "advisory",
        "GHSA-6r92-cgxc-r5fg": "advisory",
        "GHSA-6r92-cgxc-r5fg#withdrawn": "withdrawal",
        "PYSEC-2021-98": "advisory",
        page("v1.13.5"): "release_note",
        page("v0.30.3"): "release_note",
        page("3.2.4", "django/django"): "release_note",
    }
    osv, rest = records["GHSA-jfh8-c2jp-5v3q"], records["GHSA-43fc-jf86-j433"]
    assert osv.title == "Remote code injection in Log4j"
    assert osv.text.startswith("Remote code injection in Log4j\n\nLog4j versions prior")
    assert str(osv.time) == "2021-12-10T00:40:56Z"
    assert osv.scope == {
        "advisory": osv.id,
        "cve": "CVE-2021-44228",
        "package": (
            "Maven/org.apache.logging.log4j:log4j-core",
            "Maven/com.guicedee.services:log4j-core",
        ),
    }
    assert (osv.metadata["fixed"], osv.metadata["severity"]) == (["2.15.0"], "CRITICAL")
    pages = page("v1.13.5"), page("v0.30.3")
    assert rest.scope == {
        "advisory": rest.id, "cve": "CVE-2026-25639", "package": "npm/axios", "release": pages,
    }  # fmt: skip
    assert rest.metadata["fixed"] == ["1.13.5", "0.30.3"] and "withdrawn" not in rest.metadata
    authority = Authority(records.values(), domain.rules)
    assert set(authority.controlling([rest.id])) == set(pages)
    assert authority.controlling(["PYSEC-2021-98"]) == [page("3.2.4", "django/django")]
    assert authority.controlling([WITHDRAWN["id"]]) == [f"{WITHDRAWN['id']}#withdrawn"]


def test_a_file_of_something_else_is_told(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"message": "Not Found", "status": "404"}')
    with pytest.raises(InputError, match="no record shape of 'security' matches an object with"):
        load_domain("security").read(tmp_path / "x.json")
