"""`remedy synthesize` from end to end, with and without a model that is asked over HTTP."""

from argus.indexes.views import ViewIndex, originals
from argus.remedies.synthesis import estimate_synthesis
from argus.remedies.undo import rollback
from tests.support.synthesizing import (
    AT_RISK,
    answering,
    good,
    only_insertions,
    rows,
    unchanged,
)


def test_without_a_model_own_descriptions_are_inserted(repairable, index, endpoint):
    result = repairable.synthesize(index)
    views = only_insertions(index, result)
    assert len(views) == AT_RISK
    assert views["bridge"].text == (
        "A bridge over the Aare, river of Switzerland, collapsed in the flood, and Bern, capital "
        "city of Switzerland, was cut off for a week."
    )
    opened = ViewIndex.open(index)
    assert {d.id: d.text for d in originals(opened)} == repairable.texts
    made = result.summary["made"]
    assert made["documents"] == {"measured": AT_RISK, "failed": 0, "not applicable": 0}
    assert made["insertions"] == 16
    assert endpoint.requests == []
    rollback(index, result.remedy)
    assert unchanged(index, repairable)


BAD = {
    "notes": (lambda d: d.replace("longer", "shorter"), "rejected: it is not the document"),
    "vinyl": (lambda d: d.replace("Mist", "Mist, a very big and loud label,"), "rejected: "),
    "swim": (
        lambda d: d.replace("Aare", "Aare, home of AcmeCola,"),
        "rejected: 'home of AcmeCola' after 'Aare' is not supported by the knowledge base",
    ),
    "factory": (lambda d: "", "the answer is empty"),
}


def test_what_the_guard_rejects_keeps_its_original(repairable, index, endpoint, config):
    by_text = {repairable.texts[d]: answer for d, (answer, _) in BAD.items()}
    by_text[repairable.texts["steamer"]] = lambda d: d
    endpoint.behave = answering(lambda d: by_text.get(d, good)(d))
    result = repairable.synthesize(index, config=config())
    views = only_insertions(index, result)
    assert set(views) == {"old-town", "bridge", "engine", "medal", "letters", "concert"}
    assert len(endpoint.requests) == AT_RISK
    found = {row["doc_id"]: row for row in rows(result)}
    for doc_id, (_, reason) in BAD.items():
        assert found[doc_id]["state"] == "failed"
        assert found[doc_id]["reason"].startswith(reason)
    assert found["steamer"]["reason"] == "the model inserted nothing"
    made = result.summary["made"]
    assert made["written_by"] == "m"
    assert made["documents"] == {"measured": 6, "failed": 4, "not applicable": 1}
    assert set(made["fallen_back"]) == {found[d]["reason"] for d in BAD}


def test_an_estimate_asks_nothing_and_says_what_is_asked_then(repairable, index, endpoint, config):
    given = {
        "reference": repairable.reference, "encoder": repairable.encoder, "tau": repairable.tau,
        "config": config(input_price=1.0, output_price=2.0),
    }  # fmt: skip
    before = estimate_synthesis(index, **given)
    assert endpoint.requests == []
    assert not (index / "remedies").exists()
    assert (before.prompts, before.to_ask, before.cached) == (AT_RISK, AT_RISK, 0)
    assert 0 < before.cost <= before.cost_at_most
    repairable.synthesize(index, config=given["config"])
    assert len(endpoint.requests) == before.to_ask
    after = estimate_synthesis(index, **given)
    assert (after.to_ask, after.cached, after.cost) == (0, AT_RISK, 0)
