from __future__ import annotations

import os
from pathlib import Path

import pytest

from argus.authority.domains import Domain, builtin_domains, load_domain
from argus.authority.rules import Order, Rule, ScopeKey
from argus.errors import InputError

RULE = "rules:\n  - superseding: patch\n    superseded: disclosure\n    scope: [cve_id]\n"


def load(tmp_path: Path, text: str) -> Domain:
    path = tmp_path / "d.yaml"
    path.write_text(text, encoding="utf-8")
    return load_domain(path)


def refusal(tmp_path: Path, text: str) -> str:
    with pytest.raises(InputError) as error:
        load(tmp_path, text)
    return str(error.value).removeprefix(f"{tmp_path / 'd.yaml'}")


def with_rule(line: str) -> str:
    return RULE + f"    {line}\n"


def with_shape(lines: str) -> str:
    inside = "".join(f"    {line}\n" for line in lines.splitlines())
    return f"records:\n  - id: id\n{inside}{RULE}".replace("\n    \n", "\n")


def test_rules_alone_make_a_domain_named_after_the_file(tmp_path: Path) -> None:
    domain = load(tmp_path, RULE)
    assert domain.name == "d"
    assert domain.rules == (Rule(("patch",), ("disclosure",), (ScopeKey("cve_id", "cve_id"),)),)
    assert (domain.shapes, domain.results, domain.skip) == (None, None, False)
    assert str(domain.zone) == "UTC"


def test_everything_a_rule_can_say(tmp_path: Path) -> None:
    text = """
name: all
rules:
  - name: r1
    superseding: [a, b]
    superseded: [c]
    scope: [k, {superseding: overrules, superseded: citation}]
    order: published
    condition: {superseding.status: [Ongoing], superseded.level: 3, superseding.final: true}
    relation: replaces
    confidence: 0.5
  - {superseding: x, superseded: y, scope: global, order: type, confidence: 1}
  - {superseding: x, superseded: x, scope: k}
"""
    domain = load(tmp_path, text)
    first, second, third = domain.rules
    assert first == Rule(
        superseding=("a", "b"),
        superseded=("c",),
        scope=(ScopeKey("k", "k"), ScopeKey("overrules", "citation")),
        name="r1",
        order=Order.PUBLISHED,
        condition={
            "superseding.status": ("Ongoing",),
            "superseded.level": ("3",),
            "superseding.final": ("True",),
        },
        relation="replaces",
        confidence=0.5,
    )
    assert (second.scope, second.order, second.name) == ((), Order.TYPE, "x > y")
    assert third.scope == (ScopeKey("k", "k"),)


def test_built_in_domains_are_found_by_name() -> None:
    assert builtin_domains() == ["courts", "drugs", "security", "trading"]
    for name in builtin_domains():
        assert load_domain(name).name == name


def test_a_name_is_the_built_in_domain_and_a_path_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "trading").write_text("name: mine\n" + RULE)
    monkeypatch.chdir(tmp_path)
    assert load_domain("trading").name == "trading"
    assert load_domain("./trading").name == "mine"
    assert load_domain(Path("trading")).name == "mine"
    assert load_domain(Path("drugs")).name == "drugs", "there is no such file"


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("securty", "no domain or file 'securty'; expected courts, drugs, security, trading, or "
         "a YAML file. Did you mean 'security'?"),
        ("zzz", "Name one of these, or your own rules by their path."),
        ("no/such.yaml", "no domain or file 'no/such.yaml'; expected courts"),
        (".", "is a folder"),
    ],
)  # fmt: skip
def test_a_domain_that_is_not_there_is_told(source: str, words: str) -> None:
    with pytest.raises(InputError) as error:
        load_domain(source)
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ": an empty file; expected a domain with rules"),
        ("# nothing\n", ": an empty file"),
        ("- a\n", ", line 1: a list; expected a domain with rules, name, zone"),
        ("rules\n", ", line 1: text; expected a domain with rules"),
        ("name: x\n", ", line 1: no 'rules'; expected in a domain: a list of superseding"),
        ("rules: []\n", ", line 1, field 'rules': an empty list; expected at least one entry"),
        ("rules:\n", ", line 1, field 'rules': nothing; expected a rule with superseding"),
        ("rules: [x]\n", ", line 1, field 'rules[0]': text; expected a rule with superseding"),
        ("ruls: []\n", ", line 1, field 'ruls': unknown key 'ruls'; expected in a domain: rules, "
         "name, zone, dates, results, unmatched, records. Did you mean 'rules'?"),
        ("name: 2024\n" + RULE, ", line 1, field 'name': 2024 is a whole number to YAML; "
         'expected text. Quote it: "2024".'),
        ("name: 2024-03-01\n" + RULE, "field 'name': 2024-03-01 is a date to YAML; expected text."
         ' Quote it: "2024-03-01".'),
        ("name: ''\n" + RULE, "field 'name': empty text; expected text that says something"),
        ("zone: Mars/Olympus\n" + RULE, ", line 1, field 'zone': time zone 'Mars/Olympus'; "
         "expected an IANA name"),
        ("unmatched: skp\n" + RULE, "field 'unmatched': 'skp'; expected error or skip. "
         "Did you mean 'skip'?"),
        ("results: a..b\n" + RULE, "field 'results': 'a..b' is no path"),
        ("rules:\n  - {superseding: a, superseded: b}\n",
         ", line 2, field 'rules[0]': no 'scope'; expected in a rule: keys on which both agree, "
         "or the word global. Add the key."),
        ("rules:\n  - {superseding: a, scope: [k]}\n", "field 'rules[0]': no 'superseded'"),
        ("rules:\n  - {superseding: a, superseded: b, scope: []}\n",
         "field 'rules[0].scope': an empty list; expected at least one entry"),
        ("rules:\n  - {superseding: a, superseded: b, scop: [k]}\n",
         "field 'rules[0].scop': unknown key 'scop'; expected in a rule: superseding, superseded, "
         "scope, name, order, ties, condition, relation, confidence. Did you mean 'scope'?"),
        ("rules:\n  - {superseding: [], superseded: b, scope: [k]}\n",
         "field 'rules[0].superseding': an empty list"),
        ("rules:\n  - {superseding: NO, superseded: b, scope: [k]}\n",
         "field 'rules[0].superseding': NO is a boolean to YAML"),
        ("rules:\n  - {superseding: a, superseded: [b, 7], scope: [k]}\n",
         "field 'rules[0].superseded[1]': 7 is a whole number to YAML; expected text. "
         'Quote it: "7".'),
        ("rules:\n  - {superseding: a, superseded: {b: c}, scope: [k]}\n",
         "field 'rules[0].superseded': a mapping; expected text"),
        ("rules:\n  - {superseding: a, superseded: b, scope: [k, 3]}\n",
         "field 'rules[0].scope[1]': 3 is a whole number to YAML"),
        ("rules:\n  - {superseding: a, superseded: b, scope: [[k]]}\n",
         "field 'rules[0].scope[0]': a list; expected text"),
        ("rules:\n  - {superseding: a, superseded: b, scope: [{superseding: k}]}\n",
         "field 'rules[0].scope[0]': no 'superseded'; expected in a scope key: the key of the"),
        ("rules:\n  - {superseding: a, superseded: b, scope: [{superseeding: k, superseded: k}]}\n",
         "field 'rules[0].scope[0].superseeding': unknown key 'superseeding'; expected in a scope "
         "key: superseding, superseded. Did you mean 'superseding'?"),
        (with_rule("order: tpye"), ", line 5, field 'rules[0].order': unknown order 'tpye'; "
         "expected effective, published, type, named. Did you mean 'type'?"),
        (with_rule("order: [type]"), "unknown order ['type']"),
        (with_rule("confidence: 1.5"), ", line 2, field 'rules[0]': rule 'patch > disclosure': "
         "confidence 1.5; expected more than 0, at most 1"),
        (with_rule("confidence: high"), "field 'rules[0].confidence': something else; expected a "
         "number"),
        (with_rule("confidence: .nan"), "field 'rules[0]': rule 'patch > disclosure': confidence"),
        (with_rule("condition: {status: x}"), "field 'rules[0]': rule 'patch > disclosure': "
         "condition on 'status'; expected superseding.FIELD or superseded.FIELD"),
        (with_rule("condition: {superseding.x: 010}"), "010 is a whole number to YAML"),
        (with_rule("condition: {superseding.x: 1.0}"), "expected text, a whole number, true or"),
        (with_rule("condition: [x]"), "field 'rules[0].condition': something else; expected a "
         "mapping, key: value"),
        ("rules:\n  - {superseding: a, superseded: [b, a], scope: [k], order: type}\n",
         ", line 2, field 'rules[0]': rule 'a > b|a': type 'a' would supersede itself; expected "
         "order: effective or published"),
        (RULE + "rules: []\n", "field 'rules': key 'rules' is given twice, first on line 1"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_domain_or_a_rule_is_told(
    text: str, words: str, tmp_path: Path
) -> None:
    assert words in refusal(tmp_path, text)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("", "field 'records[0]': no 'type'; expected in a record shape: a name, or {path: ...}"),
        ("type: x\ntimes: t", ", line 4, field 'records[0].times': unknown key 'times'; expected "
         "in a record shape: id, type, when, require, time, published, title, text, scope, "
         "metadata. Did you mean 'time'?"),
        ("type: [x]", "field 'records[0].type': a list; expected text"),
        ("type: {}", "field 'records[0].type': neither or both; expected type: NAME or"),
        ("type: {pth: x}", "field 'records[0].type.pth': unknown key 'pth'; expected in a type: "
         "constant, path. Did you mean 'path'?"),
        ("type: {path: 'a[0]'}", "field 'records[0].type.path': 'a[0]' is no path: 'a[0]' is not "
         "a name, or a name and []; expected a path such as affected[].package.name"),
        ("type: x\ntime: [a, 3]", "field 'records[0].time[1]': 3 is a whole number to YAML"),
        ("type: x\ntime: '{t'", "field 'records[0].time': '{t' is no template: expected '}' before "
         "end of string"),
        ("type: x\ntitle: '{1}'", "groups and {.paths} are for scope values only"),
        ("type: x\nscope: [k]", "field 'records[0].scope': something else; expected a mapping"),
        ("type: x\nscope: {k: []}", "field 'records[0].scope.k': an empty list"),
        ("type: x\nscope: {k: 3}", "field 'records[0].scope.k': 3 is a whole number to YAML"),
        ("type: x\nscope: {k: {path: a, patern: b}}", "field 'records[0].scope.k.patern': unknown "
         "key 'patern'; expected in a scope value: path, pattern, template, case. "
         "Did you mean 'pattern'?"),
        ("type: x\nscope: {k: {path: a, pattern: '(b'}}",
         "field 'records[0].scope.k.pattern': broken regular expression '(b' (missing ), "
         "unterminated subpattern at position 0); expected a regular expression of Python's re"),
        ("type: x\nscope: {k: {pattern: b}}", "field 'records[0].scope.k': no path"),
        ("type: x\nscope: {k: {path: a, template: '{1}'}}", "{1} without a pattern"),
        ("type: x\nscope: {k: {path: a, pattern: '(b)', template: '{2}'}}",
         "the template names group 2, the pattern has 1; expected a group of the pattern"),
        ("type: x\nscope: {k: {path: a, pattern: b, template: '{.c}'}}", "nothing to look in"),
        ("type: x\nscope: {k: {path: a, case: title}}", "'title'; expected lower or upper"),
        ("type: x\nwhen: {a: yes}", "yes is a boolean to YAML"),
        ("type: x\nwhen: {a: true}", "field 'records[0].when.a': a boolean; expected a condition "
         "with exists, equals, in"),
        ("type: x\nwhen: {a: {exist: true}}", "field 'records[0].when.a.exist': unknown key "
         "'exist'; expected in a condition: exists, equals, in. Did you mean 'exists'?"),
        ("type: x\nwhen: {a: {}}", "several tests, or none; expected one of exists, equals, in"),
        ("type: x\nwhen: {a: {exists: true, equals: b}}", "several tests, or none"),
        ("type: x\nwhen: {a: {exists: 'true'}}", "something else; expected true or false"),
        ("type: x\nwhen: {'a[0]': {exists: true}}", "'a[0]' is no path"),
        ("type: x\nmetadata: {m: 'a..b'}", "field 'records[0].metadata.m': 'a..b' is no path"),
        ("type: patch\nscope: {cve_id: c}", ", line 7, field 'rules[0].superseded': no record "
         "shape is of type 'disclosure'; expected one of patch. Remove it, or rename it."),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_record_shape_is_told(lines: str, words: str, tmp_path: Path) -> None:
    assert words in refusal(tmp_path, with_shape(lines))


SHAPES = (
    "records:\n"
    "  - {id: id, type: patch, scope: {cve: c}}\n"
    "  - {id: id, type: disclosure, scope: {cve_id: c}}\n"
)


def test_a_scope_key_that_no_shape_makes_is_a_typo(tmp_path: Path) -> None:
    assert refusal(tmp_path, SHAPES + RULE) == (
        ", line 7, field 'rules[0].scope[0]': no record of type patch has the scope key 'cve_id'; "
        "expected one of cve. Did you mean 'cve'?"
    )
    both = RULE.replace("[cve_id]", "[{superseding: cve, superseded: cve_id}]")
    assert load(tmp_path, SHAPES + both).rules[0].scope == (ScopeKey("cve", "cve_id"),)


def test_types_that_come_from_the_data_are_not_checked_here(tmp_path: Path) -> None:
    text = "records:\n  - {id: id, type: {path: kind}, scope: {x: c}}\n" + RULE
    assert load(tmp_path, text).rules[0].superseding == ("patch",)


def test_a_file_not_in_utf_8_and_one_with_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "d.yaml"
    path.write_bytes("name: Zürich\n".encode("latin-1") + RULE.encode())
    with pytest.raises(InputError, match="is not UTF-8"):
        load_domain(path)
    path.write_bytes(b"\xef\xbb\xbf" + RULE.encode())
    assert len(load_domain(path).rules) == 1


def test_rules_are_a_file_of_a_size_that_a_person_wrote(tmp_path):
    os.mkfifo(tmp_path / "pipe.yaml")
    with pytest.raises(InputError, match=r"pipe or a device; expected courts, .* or a YAML file"):
        load_domain(tmp_path / "pipe.yaml")
    with (tmp_path / "rules.yaml").open("wb") as file:
        file.truncate(100_000_000_000)
    with pytest.raises(InputError, match=r"rules\.yaml: more than .* bytes"):
        load_domain(tmp_path / "rules.yaml")
