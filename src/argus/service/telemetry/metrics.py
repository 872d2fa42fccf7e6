"""Counts and durations for Prometheus, of one service."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.openmetrics.exposition import CONTENT_TYPE_LATEST as CONTENT_TYPE_LATEST

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
BATCH = (1, 2, 4, 8, 16, 32, 64)


class Metrics:
    """The figures of one service, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        with_route = ("method", "route")
        self.requests = Counter(
            "argus_requests", "Requests that were answered.", (*with_route, "status"),
            registry=self.registry,
        )  # fmt: skip
        self.seconds = Histogram(
            "argus_request_seconds", "Seconds until a response was whole.", with_route,
            registry=self.registry, buckets=SECONDS,
        )  # fmt: skip
        self.under_way = Gauge("argus_requests_under_way", "Requests now.", registry=self.registry)
        self.batches = Histogram(
            "argus_search_batch", "Questions that were searched at once.",
            registry=self.registry, buckets=BATCH,
        )  # fmt: skip
        self.waiting = Gauge("argus_search_waiting", "Questions that wait.", registry=self.registry)
        self.stale = Counter(
            "argus_stale_answers", "Cached answers that records made stale.",
            registry=self.registry,
        )  # fmt: skip

    def text(self) -> bytes:
        """Return all of them, as Prometheus reads them."""
        return generate_latest(self.registry)
