import bz2
import json

from argus.knowledge.dumps.items import ItemSetup, read_items


def record(id_: str, *, type_: str = "item", site: str | None = "enwiki", spaced=False) -> bytes:
    target = {"entity-type": "item", "id": "Q9"}
    snak = {"snaktype": "value", "datavalue": {"type": "wikibase-entityid", "value": target}}
    entity = {
        "type": type_,
        "id": id_,
        "labels": {"en": {"language": "en", "value": f"label of {id_}"}},
        "claims": {
            "P1": [
                {"mainsnak": snak, "rank": "normal"},
                {"mainsnak": snak, "rank": "deprecated"},
            ]
        },
        "sitelinks": {site: {"site": site, "title": f"page of {id_}"}} if site else {},
    }
    return json.dumps(entity, separators=None if spaced else (",", ":")).encode() + b",\n"


MIXED = [
    b"[\n",
    record("Q1"),
    record("Q2", site=None),
    record("Q3", site="dewiki", spaced=True),
    record("P4", type_="property"),
    record("P5", type_="property", site=None),
    record("Q6")[:-30] + b",\n",
    record("Q7", spaced=True),
    b"]\n",
]


def test_every_line_is_in_the_tables_or_under_a_reason():
    part = read_items(MIXED, ItemSetup())
    assert part.items["id"].to_pylist() == ["Q1", "Q7"]
    assert part.counts == {
        "entities": 7,
        "no article": 2,
        "not an item": 2,
        "broken JSON": 1,
        "deprecated": 2,
    }
    lost = sum(part.counts[reason] for reason in ("no article", "not an item", "broken JSON"))
    assert part.items.num_rows + lost == part.counts["entities"]


def test_the_excerpt_gives_its_published_counts(shared):
    path = shared("wikidata_excerpt") / "sample_wikidata_items.json.bz2"
    with bz2.open(path) as lines:
        part = read_items(lines, ItemSetup())
    assert part.counts == {"entities": 100, "deprecated": 22}
    assert part.items.num_rows == 100 and part.items["article"].null_count == 0
    assert part.statements.num_rows == 5598 - 22
    assert part.statements["subject"].unique().to_pylist() == [
        id_ for id_ in part.items["id"].to_pylist() if id_ in part.statements["subject"].to_pylist()
    ]
