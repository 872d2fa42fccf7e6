import re
from pathlib import Path

import pytest

from argus.authority.domains import load_domain
from argus.authority.relation import Authority, chain_to

DOCS = Path(__file__).parents[3] / "docs"
DOC = (DOCS / "authority.md").read_text(encoding="utf-8")


def block(after: str, language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", DOC[DOC.index(after) :], re.DOTALL)
    assert found is not None, after
    return found[1]


def test_the_code_of_the_doc_follows_obsolete_rfcs_to_those_of_today(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rfc.yaml").write_text(block("`rfc.yaml`:", "yaml"), encoding="utf-8")
    (tmp_path / "rfcs.jsonl").write_text(block("`rfcs.jsonl`", "json"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(block("What controls RFC 2616 today", "python"), names)
    assert names["today"] == ["RFC9110", "RFC9112", "RFC9111"]
    assert names["then"] == ["RFC7230", "RFC7234"]
    domain = load_domain(tmp_path / "rfc.yaml")
    authority = Authority(domain.read(tmp_path / "rfcs.jsonl"), domain.rules)
    assert authority.controlling(["RFC2068"]) == names["today"]
    links = chain_to("RFC9111", authority.reach(["RFC2068"]))
    assert [link.superseder for link in links] == ["RFC2616", "RFC7234", "RFC9111"]


def test_the_rules_records_and_scope_values_of_the_doc_load(tmp_path: Path) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text(block("## Rules alone", "yaml"), encoding="utf-8")
    (rule,) = load_domain(path).rules
    assert (rule.superseding, rule.superseded, rule.order) == (("patch",), ("disclosure",), "type")
    rules = "rules:\n  - {superseding: withdrawal, superseded: withdrawal, scope: global}\n"
    path.write_text(block("## Records", "yaml") + rules, encoding="utf-8")
    assert load_domain(path).shapes is not None
    scope = block("A **scope value** is", "yaml").replace("\n", "\n    ")
    shape = f"records:\n  - id: id\n    type: withdrawal\n    {scope.rstrip()}\n"
    path.write_text(shape + rules, encoding="utf-8")
    (only,) = load_domain(path).shapes or ()
    assert sorted(only.scope) == ["cve", "overrules", "package", "release", "ticker"]
