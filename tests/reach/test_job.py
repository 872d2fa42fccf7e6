"""Which records a store does not bring back by their own vectors, and why."""

from dataclasses import replace

import numpy as np
import pytest

from argus.data.types import Query
from argus.errors import ArgusError, InputError
from argus.reachability.config import ReachConfig
from argus.reachability.job import Cause, reach
from argus.stores.protocol import Metric, Records, StoreFacts
from tests.support.word_encoder import WordEncoder

DIM = 8


class PlainStore:
    """A store in memory that ranks by a metric, and loses what it is told to lose."""

    name = "plain:memory"
    can_search_exactly = False

    def __init__(self, vectors, metric=Metric.COSINE, lost=(), payloads=None, backwards=False):
        self.vectors = np.asarray(vectors, np.float32)
        self.metric, self.lost = metric, set(lost)
        self.payloads = payloads or [{}] * len(self.vectors)
        self.order = list(range(len(self.vectors)))[:: -1 if backwards else 1]

    def describe(self):
        index = "lossy" if self.lost else "exact"
        return StoreFacts(*self.vectors.shape, self.metric, "", index, not self.lost)

    def iterate(self, size):
        for start in range(0, len(self.vectors), size):
            part = self.order[start : start + size]
            ids, payloads = [self.id(i) for i in part], [self.payloads[i] for i in part]
            yield Records(ids, self.vectors[part], payloads)

    def id(self, row):
        return str(row)

    def search(self, vectors, k, *, matching=None, exact=False):
        answers = []
        for query in np.asarray(vectors, float):
            scores = self._scores(query)
            for row, payload in enumerate(self.payloads):
                hidden = matching and any(payload.get(n) != v for n, v in matching.items())
                if row in self.lost or hidden or not np.isfinite(scores[row]):
                    scores[row] = -np.inf
            order = np.argsort(-scores, kind="stable")[:k]
            found = [row for row in order if np.isfinite(scores[row])]
            answers.append([(self.id(row), float(scores[row])) for row in found])
        return answers

    def _scores(self, query):
        rows = self.vectors.astype(float)
        if self.metric is Metric.L2:
            return -((rows - query) ** 2).sum(axis=1)
        if self.metric is Metric.COSINE:
            with np.errstate(invalid="ignore", divide="ignore"):
                rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return rows @ query

    def close(self):
        pass


@pytest.fixture
def vectors():
    return np.random.default_rng(1).normal(size=(200, DIM)).astype(np.float32)


def causes(result):
    return {row["id"]: row["cause"] for row in result.table.to_pylist()}


@pytest.mark.parametrize("metric", [Metric.COSINE, Metric.L2])
def test_a_store_without_faults_reaches_every_record(metric, vectors, tmp_path):
    result = reach(PlainStore(vectors, metric), out=tmp_path)
    assert result.summary["reached"]["reached"] == result.summary["reached"]["asked"] == 200
    assert result.summary["recall"]["recall"] == 1 and result.summary["causes"] == {}


def test_every_cause_is_told_apart(vectors, tmp_path):
    vectors[10:30] = vectors[10]  # more equal ones than a list holds
    vectors[40] = 0
    vectors[41, 3] = np.nan
    result = reach(PlainStore(vectors, lost=[50, 51]), out=tmp_path, config=ReachConfig(k=5))
    told = causes(result)
    assert {id_ for id_, cause in told.items() if cause == Cause.INDEX} == {"50", "51"}
    assert {id_ for id_, cause in told.items() if cause == Cause.BROKEN} == {"40", "41"}
    equal = {id_ for id_, cause in told.items() if cause == Cause.EQUAL}
    assert len(equal) == 15 and equal < {str(i) for i in range(10, 30)}
    assert set(told) == equal | {"40", "41", "50", "51"}
    assert result.summary["recall"]["recall"] < 1
    assert "lost by the approximate index" in result.report.read_text()


def test_long_vectors_outscore_short_ones_by_dot_product(vectors, tmp_path):
    vectors[:30] *= 100
    result = reach(PlainStore(vectors, Metric.DOT), out=tmp_path, config=ReachConfig(k=3))
    told = causes(result)
    assert set(told.values()) == {str(Cause.METRIC)} and len(told) > 20
    assert "records score higher" in result.table["detail"][0].as_py()


@pytest.mark.parametrize("metric", [Metric.DOT, Metric.L2])
def test_one_long_vector_blurs_nothing(metric, tmp_path):
    rows = np.random.default_rng(2).normal(size=(300, 64)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    rows[0] *= 300
    lost = range(200, 300)
    told = reach(PlainStore(rows, metric, lost=lost), out=tmp_path, config=ReachConfig(k=20))
    index = {id_ for id_, cause in causes(told).items() if cause == Cause.INDEX}
    assert index == {str(i) for i in lost}
    assert 0.6 < told.summary["recall"]["recall"] < 0.75


def test_near_duplicates_are_no_equal_vectors(tmp_path):
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(60, 384)).astype(np.float32)
    rows[:20] = rows[0] + 0.005 * rng.normal(size=(20, 384))  # cosine 0.99998 or so
    result = reach(PlainStore(rows, lost=[5]), out=tmp_path)
    assert causes(result) == {"5": str(Cause.INDEX)}
    assert result.table["detail"].to_pylist() == ["exact search finds it at 1"]


def test_ids_that_repeat_are_refused(vectors, tmp_path):
    class Chunks(PlainStore):
        def id(self, row):
            return f"doc-{row // 2}"

    with pytest.raises(InputError, match=r"100 of 200 records.*--store-id"):
        reach(Chunks(vectors), out=tmp_path, config=ReachConfig(sample=50))


def test_a_filter_of_texts_takes_the_type_of_the_records(vectors, tmp_path):
    payloads = [{"tenant": str(i % 2), "meta": {"year": 2000 + i % 3}} for i in range(200)]
    store = PlainStore(vectors, payloads=payloads)
    store.search = lambda rows, k, matching=None, exact=False: PlainStore.search(
        PlainStore(vectors, lost=[i for i in range(200) if i % 3 or i % 2 == 0]), rows, k
    )
    result = reach(store, out=tmp_path, matching={"tenant": "1", "meta.year": "2000"})
    assert result.summary["matching"] == {"tenant": "1", "meta.year": 2000}
    assert result.summary["reached"]["asked"] == sum(i % 2 == 1 and i % 3 == 0 for i in range(200))


@pytest.mark.parametrize(
    ("matching", "problem"),
    [
        ({"tenants": "1"}, "no record holds a field 'tenants'; expected one of tenant"),
        ({"tenant": "one"}, "tenant=one; expected a value as the records have them: 0, 1"),
        ({"tenant": "9"}, "tenant=9 matches none of 200 records"),
    ],
)
def test_a_filter_that_shows_nothing_is_refused(matching, problem, vectors, tmp_path):
    store = PlainStore(vectors, payloads=[{"tenant": i % 2} for i in range(200)])
    with pytest.raises(InputError, match=problem):
        reach(store, out=tmp_path, matching=matching)


def test_a_filter_hides_records_and_they_are_not_asked_for(vectors, tmp_path):
    vectors[[4, 5]] = 0
    store = PlainStore(vectors, payloads=[{"tenant": i % 4} for i in range(200)])
    config = ReachConfig(recall_sample=15)
    result = reach(store, out=tmp_path, matching={"tenant": 1}, config=config)
    assert result.summary["hidden"] == 150 and result.summary["reached"]["asked"] == 49
    assert causes(result) == {"5": str(Cause.BROKEN)}, "of the broken ones that it shows"
    assert result.summary["recall"]["queries"] == 15 and result.summary["recall"]["recall"] == 1


@pytest.mark.parametrize("config", [ReachConfig(sample=60), ReachConfig(until_width=0.2, batch=20)])
def test_a_sample_is_the_same_whatever_the_order(config, vectors, tmp_path):
    lost = range(0, 200, 2)
    first = reach(PlainStore(vectors, lost=lost), out=tmp_path / "a", config=config)
    backwards = PlainStore(vectors, lost=lost, backwards=True)
    again = reach(backwards, out=tmp_path / "b", config=config)
    assert first.summary == again.summary and first.table == again.table
    reached = first.summary["reached"]
    assert reached["asked"] < 200 and reached["low"] < 0.5 < reached["high"]
    if config.until_width:
        assert reached["high"] - reached["low"] <= 0.2


def test_a_collection_that_changes_is_told(vectors, tmp_path):
    class Growing(PlainStore):
        def describe(self):
            return replace(super().describe(), records=193)

    result = reach(Growing(vectors), out=tmp_path)
    assert any("changes while it is read" in line for line in result.headline())


def test_queries_need_the_encoder_of_the_store_and_a_store_needs_records(vectors, tmp_path):
    questions = [Query("q", "hot water")]
    with pytest.raises(InputError, match="1 queries without an encoder"):
        reach(PlainStore(vectors), out=tmp_path, queries=questions)
    with pytest.raises(InputError, match="the store holds 8"):
        reach(PlainStore(vectors), out=tmp_path, queries=questions, encoder=WordEncoder())
    with pytest.raises(ArgusError, match="no record in the store"):
        reach(PlainStore(np.zeros((0, DIM))), out=tmp_path)
    assert not list(tmp_path.iterdir())


def test_shares_are_told_by_slice(vectors, tmp_path):
    payloads = [{"page": {"lang": "de" if i < 50 else "en"}, "n": i} for i in range(200)]
    store = PlainStore(vectors, lost=range(40), payloads=payloads)
    result = reach(store, out=tmp_path, config=ReachConfig(k=5, by=("page.lang", "n")))
    slices = result.summary["slices"]
    assert [field["slices"] for field in slices["fields"]] == [2, 5]
    shares = {(row["field"], row["slice"]): row for row in slices["worst"]}
    german = shares["page.lang", "de"]
    assert (german["n"], german["share"], german["whole"]) == (50, 0.2, 0.8)
    assert shares["n", "0 to 39"]["share"] == 0 and slices["worst"][0]["slice"] == "0 to 39"
    assert "By slice" in result.report.read_text()
