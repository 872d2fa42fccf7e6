"""Labels and enforcement reports in the shapes in which openFDA publishes them (shortened)."""

import json
from pathlib import Path
from typing import Any

from argus.authority.domains import load_domain
from argus.authority.relation import Authority, chain_to


def label(id_: str, set_id: str, version: str, day: str, **more: Any) -> dict[str, Any]:
    return {
        "indications_and_usage": ["1 INDICATIONS AND USAGE Losartan is for hypertension."],
        "boxed_warning": ["WARNING: FETAL TOXICITY"],
        "id": id_,
        "set_id": set_id,
        "version": version,
        "effective_time": day,
        "openfda": {
            "brand_name": ["Losartan Potassium"],
            "product_ndc": ["13668-113", "13668-409", "13668-115"],
            "package_ndc": ["13668-113-30", "13668-113-90", "13668-409-30"],
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
        "classification": "Class II",
        "openfda": {"product_ndc": ["13668-113", "13668-115"]},
        "recall_number": "D-0341-2019",
        "product_description": "Losartan Potassium Tablets, USP, 50 mg, 30-count bottles "
        "(NDC 13668-409-30), Manufactured by Torrent",
        "reason_for_recall": "CGMP Deviations: FDA laboratory found NDEA above the interim limit.",
        "recall_initiation_date": "20181220",
        "report_date": "20190116",
        "code_info": "Lot: BEF7D051",
    },
    {
        "status": "Ongoing",
        "classification": "Class II",
        "openfda": {},
        "recall_number": "D-1234-2018",
        "product_description": "Valsartan Tablets, 80 mg, a) NDC 0591-2333-19, b) 0591-2334-30",
        "recall_initiation_date": "20180717",
        "report_date": "20180801",
    },
]


def test_recalls_supersede_labels_and_newer_versions_older(tmp_path: Path) -> None:
    for name, results in (("label", LABELS), ("enforcement", RECALLS)):
        answer = {"meta": {"results": {"skip": 0, "limit": 3, "total": 3}}, "results": results}
        (tmp_path / f"drug-{name}-0001-of-0001.json").write_text(json.dumps(answer))
    domain = load_domain("drugs")
    records = {record.id: record for record in domain.read(tmp_path)}
    old, first, second = records["a1"], records["D-0341-2019"], records["D-1234-2018"]
    assert (old.type, old.title) == ("label", "Losartan Potassium")
    assert old.scope == {"set_id": "set-a", "ndc": ("13668-113", "13668-409", "13668-115")}
    assert old.text.split("\n\n")[1] == "WARNING: FETAL TOXICITY"
    assert (str(old.time), old.metadata["version"]) == ("20171101", "11")
    assert first.scope == {"ndc": ("13668-113", "13668-115", "13668-409")}
    assert second.scope == {"ndc": ("0591-2333", "0591-2334")}
    assert first.title.startswith("Class II recall of Losartan Potassium Tablets")
    assert (str(first.time), str(first.published)) == ("20181220", "20190116")
    assert first.metadata["status"] == "Terminated"
    authority = Authority(records.values(), domain.rules)
    assert set(authority.controlling(["a1"])) == {"D-0341-2019", "a2"}
    assert authority.is_active("a2"), "it took effect after the recall"
    assert authority.controlling(["b1"]) == ["D-1234-2018"], "by the code on its panel"
    (newer,) = chain_to("a2", authority.reach(["a1"]))
    assert newer.rule == "a newer label supersedes the older of its set"
