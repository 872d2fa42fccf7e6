import os
from pathlib import Path

import pytest

from argus.authority.domains import Domain, load_domain
from argus.authority.rules import Order, Rule, ScopeKey
from argus.authority.times import parse_moment
from argus.errors import InputError

RULE = "rules:\n  - superseding: patch\n    superseded: disclosure\n    scope: [cve_id]\n"


def load(tmp_path: Path, text: str) -> Domain:
    (tmp_path / "d.yaml").write_text(text, encoding="utf-8")
    return load_domain(tmp_path / "d.yaml")


def with_rule(line: str) -> str:
    return RULE + f"    {line}\n"


def test_everything_a_rule_can_say(tmp_path: Path) -> None:
    text = """
name: all
dates: '%d.%m.%Y'
records: [{id: _id, type: a, time: timestamp, scope: {k: entities.k}}]
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
    (tmp_path / "docs.jsonl").write_text('{"_id": "d", "timestamp": "25.12.2001"}\n')
    (record,) = domain.read(tmp_path / "docs.jsonl")
    assert record.time == parse_moment("2001-12-25")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("# nothing\n", ": nothing; expected a domain with rules"),
        ("name: x\n", ", line 1: no 'rules'; expected in a domain: a list of superseding"),
        ("rules: []\n", ", line 1, field 'rules': an empty list; expected at least one entry"),
        ("ruls: []\n", ", line 1, field 'ruls': unknown key 'ruls'; expected in a domain: rules, "
         "name, zone, dates, unmatched, records. Did you mean 'rules'?"),
        ("name: 2024\n" + RULE, ", line 1, field 'name': a number; expected text. Quote it."),
        ("zone: Mars/Olympus\n" + RULE, ", line 1, field 'zone': time zone 'Mars/Olympus'; "
         "expected an IANA name"),
        ("unmatched: skp\n" + RULE, "field 'unmatched': 'skp'; expected error or skip. "
         "Did you mean 'skip'?"),
        ("rules:\n  - {superseding: a, superseded: b}\n",
         ", line 2, field 'rules[0]': no 'scope'; expected in a rule: keys on which both agree, "
         "or the word global. Add the key."),
        ("rules:\n  - {superseding: a, superseded: b, scop: [k]}\n",
         "field 'rules[0].scop': unknown key 'scop'; expected in a rule: superseding, superseded, "
         "scope, name, order, condition, relation, confidence. Did you mean 'scope'?"),
        ("rules:\n  - {superseding: a, superseded: b, scope: [{superseding: k}]}\n",
         "field 'rules[0].scope[0]': no 'superseded'; expected in a scope key: the key of the"),
        (with_rule("order: tpye"), ", line 5, field 'rules[0].order': 'tpye' is not a valid "
         "Order; expected effective, published, type, named."),
        (with_rule("confidence: 1.5"), ", line 2, field 'rules[0]': rule 'patch > disclosure': "
         "confidence 1.5; expected more than 0, at most 1"),
        (with_rule("condition: {status: x}"), "field 'rules[0]': rule 'patch > disclosure': "
         "condition on 'status'; expected superseding.FIELD or superseded.FIELD"),
        ("rules:\n  - {superseding: a, superseded: [b, a], scope: [k], order: type}\n",
         ", line 2, field 'rules[0]': rule 'a > b|a': type 'a' would supersede itself; expected "
         "two types, or an order by time"),
        (RULE + "rules: []\n", "field 'rules': key 'rules' is given twice, first on line 1"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_domain_or_a_rule_is_told(
    text: str, words: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as error:
        load(tmp_path, text)
    assert words in str(error.value).removeprefix(f"{tmp_path / 'd.yaml'}")


def test_rules_are_a_file_of_a_size_that_a_person_wrote(tmp_path):
    os.mkfifo(tmp_path / "pipe.yaml")
    with pytest.raises(InputError, match=r"pipe or a device; expected courts, .* or a YAML file"):
        load_domain(tmp_path / "pipe.yaml")
    with (tmp_path / "rules.yaml").open("wb") as file:
        file.truncate(100_000_000_000)
    with pytest.raises(InputError, match=r"rules\.yaml: more than .* bytes"):
        load_domain(tmp_path / "rules.yaml")
