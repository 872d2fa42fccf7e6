"""Labels and enforcement reports in the shapes in which openFDA publishes them (shortened)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from argus.authority.domains import load_domain
from argus.authority.relation import Authority
from argus.authority.rules import Record

META = {
    "disclaimer": "Do not rely on openFDA to make decisions regarding medical care.",
    "terms": "https://open.fda.gov/terms/",
    "license": "https://open.fda.gov/license/",
    "last_updated": "2024-05-01",
    "results": {"skip": 0, "limit": 3, "total": 3},
}


def label(id_: str, set_id: str, version: str, day: str, **more: Any) -> dict[str, Any]:
    return {
        "spl_product_data_elements": ["Losartan Potassium Losartan Potassium LOSARTAN"],
        "indications_and_usage": ["1 INDICATIONS AND USAGE Losartan is for hypertension."],
        "boxed_warning": ["WARNING: FETAL TOXICITY"],
        "dosage_and_administration": ["2 DOSAGE AND ADMINISTRATION Start with 50 mg."],
        "id": id_,
        "set_id": set_id,
        "version": version,
        "effective_time": day,
        "openfda": {
            "application_number": ["ANDA076958"],
            "brand_name": ["Losartan Potassium"],
            "generic_name": ["LOSARTAN POTASSIUM"],
            "manufacturer_name": ["Torrent Pharmaceuticals Limited"],
            "product_ndc": ["13668-113", "13668-409", "13668-115"],
            "package_ndc": ["13668-113-30", "13668-113-90", "13668-409-30"],
            "spl_id": [id_],
            "spl_set_id": [set_id],
        },
        **more,
    }


LABELS = [
    label("a1", "set-a", "11", "20171101"),
    label("a2", "set-a", "12", "20190420"),
    label("b1", "set-b", "3", "20180301", openfda={}, package_label_principal_display_panel=[
        "PRINCIPAL DISPLAY PANEL NDC 0591-2333-19 Valsartan Tablets"]),
]  # fmt: skip
RECALLS = [
    {
        "status": "Terminated",
        "city": "Basking Ridge",
        "state": "NJ",
        "country": "United States",
        "classification": "Class II",
        "openfda": {
            "product_ndc": ["13668-113", "13668-115"],
            "brand_name": ["LOSARTAN POTASSIUM"],
        },
        "product_type": "Drugs",
        "event_id": "81836",
        "recalling_firm": "Torrent Pharma Inc.",
        "voluntary_mandated": "Voluntary: Firm initiated",
        "initial_firm_notification": "Letter",
        "distribution_pattern": "Nationwide",
        "recall_number": "D-0341-2019",
        "product_description": "Losartan Potassium Tablets, USP, 50 mg, 30-count bottles "
        "(NDC 13668-409-30), Manufactured by Torrent",
        "product_quantity": "40,000 bottles",
        "reason_for_recall": "CGMP Deviations: FDA laboratory found NDEA above the interim limit.",
        "recall_initiation_date": "20181220",
        "center_classification_date": "20190110",
        "termination_date": "20200930",
        "report_date": "20190116",
        "code_info": "Lot: BEF7D051",
    },
    {
        "status": "Ongoing",
        "classification": "Class II",
        "openfda": {},
        "product_type": "Drugs",
        "recalling_firm": "Teva Pharmaceuticals USA",
        "recall_number": "D-1234-2018",
        "product_description": "Valsartan Tablets, 80 mg, a) NDC 0591-2333-19, b) 0591-2334-30",
        "reason_for_recall": "CGMP Deviations: N-nitrosodimethylamine (NDMA)",
        "recall_initiation_date": "20180717",
        "report_date": "20180801",
        "code_info": "All lots",
    },
]


@pytest.fixture
def records(tmp_path: Path) -> list[Record]:
    for name, results in (("label", LABELS), ("enforcement", RECALLS)):
        path = tmp_path / f"drug-{name}-0001-of-0001.json"
        path.write_text(json.dumps({"meta": META, "results": results}))
    return load_domain("drugs").read(tmp_path)


@pytest.fixture
def authority(records: list[Record]) -> Authority:
    return Authority(records, load_domain("drugs").rules)


def test_a_label(records: list[Record]) -> None:
    record = next(r for r in records if r.id == "a1")
    assert (record.type, record.title) == ("label", "Losartan Potassium")
    assert record.scope == {"set_id": "set-a", "ndc": ("13668-113", "13668-409", "13668-115")}
    assert record.text.split("\n\n")[1] == "WARNING: FETAL TOXICITY"
    assert str(record.time) == "20171101"
    assert record.metadata["version"] == "11"


def test_a_recall_has_the_codes_of_fields_and_description(
    records: list[Record],
) -> None:
    first, second = (r for r in records if r.type == "recall")
    assert first.scope == {"ndc": ("13668-113", "13668-115", "13668-409")}
    assert second.scope == {"ndc": ("0591-2333", "0591-2334")}
    assert first.title.startswith("Class II recall of Losartan Potassium Tablets")
    assert (str(first.time), str(first.published)) == ("20181220", "20190116")
    assert first.metadata["status"] == "Terminated"


def test_recalls_supersede_labels_and_newer_versions_older(
    authority: Authority,
) -> None:
    assert set(authority.controlling(["a1"])) == {"D-0341-2019", "a2"}
    assert authority.is_active("a2"), "it took effect after the recall"
    assert authority.controlling(["b1"]) == ["D-1234-2018"], "by the code on its panel"
    (newer,) = authority.chain("a1", "a2")
    assert newer.rule == "a newer label supersedes the older of its set"
