"""A quick draw of the kills of `argus serve` that `python -m benchmarks.faults serve` does."""

from __future__ import annotations

import pytest

from benchmarks.faults.serving import Load, batch, kill_servers, marker

MIDDLE = 25
"""A seed whose first moment lies in the middle of jobs and stream: one kill, and one round."""


def test_each_request_of_the_stream_brings_its_own_record_and_is_refused_a_second_time():
    rows = [row for n in range(60) for row in batch(n)]
    come = [row["_id"] for row in rows if "op" not in row]
    gone = [row["_id"] for row in rows if row.get("op") == "delete"]
    assert come == [marker(n) for n in range(60)]
    assert len(set(gone)) == len(gone) > 10 and {row.get("op") for row in rows} >= {"correct"}


@pytest.mark.slow
def test_jobs_and_a_stream_over_killed_servers_come_to_what_they_come_to_over_one(tmp_path, shared):
    shared("fb15k237")
    told = kill_servers(tmp_path, 1, MIDDLE, Load(documents=40, batches=12, pause_s=0.1))
    assert told.tally.tries == 1 and told.rounds >= 1
    bad = (told.tally.lost, told.tally.wrong, told.tally.escaped, told.tally.left)
    assert bad == (0, 0, 0, 0), told.tally.notes
