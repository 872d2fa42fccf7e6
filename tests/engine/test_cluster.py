from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from argus.engine.cluster import Node, living, seats


def node(name, cores, gpus=0):
    return Node(id=name, address=name, cores=cores, gpus=gpus, memory=0, object_store=0)


def test_there_is_a_seat_per_core_spread_over_machines():
    places = seats([node("a", 3), node("b", 1), node("c", 0)], threaded=False, workers=None)
    assert [seat.node for seat in places] == ["a", "b", "a", "a"]
    assert {(seat.cores, seat.gpus, seat.threads) for seat in places} == {(1, 0, 1)}


def test_threaded_work_has_a_seat_per_machine_or_shares_cores():
    machines = [node("a", 16), node("b", 8)]
    places = seats(machines, threaded=True, workers=None)
    assert [(seat.node, seat.cores, seat.threads) for seat in places] == [
        ("a", 16, 16),
        ("b", 8, 8),
    ]
    places = seats(machines, threaded=True, workers=3)
    assert [(seat.node, seat.cores) for seat in places] == [("a", 8), ("b", 8), ("a", 8)]


def test_threaded_work_has_a_seat_per_gpu_where_there_are_any():
    places = seats([node("a", 16), node("b", 8, gpus=2)], threaded=True, workers=None)
    assert [(seat.node, seat.cores, seat.gpus) for seat in places] == [("b", 4, 1), ("b", 4, 1)]


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), max_size=5),
    st.booleans(),
    st.none() | st.integers(1, 20),
)
@settings(deadline=None)
def test_no_machine_is_given_more_than_it_has(sizes, threaded, workers):
    machines = {str(i): node(str(i), *size) for i, size in enumerate(sizes)}
    places = seats(list(machines.values()), threaded=threaded, workers=workers)
    cores, gpus = Counter(), Counter()
    for seat in places:
        cores[seat.node] += seat.cores
        gpus[seat.node] += seat.gpus
        assert seat.threads >= 1
    assert all(cores[name] <= machine.cores for name, machine in machines.items())
    assert all(gpus[name] <= machine.gpus for name, machine in machines.items())
    assert workers is None or len(places) <= workers
    if any(machine.cores for machine in machines.values()) and not gpus:
        assert places or any(machine.gpus for machine in machines.values())


def test_machines_that_are_down_are_left_out():
    up = {
        "NodeID": "a",
        "NodeManagerAddress": "10.0.0.1",
        "Alive": True,
        "Resources": {"CPU": 4.0, "GPU": 1.0, "memory": 8e9, "object_store_memory": 2e9},
    }
    (machine,) = living([up, up | {"NodeID": "b", "Alive": False, "Resources": {}}])
    assert machine == Node(
        id="a", address="10.0.0.1", cores=4, gpus=1, memory=8 * 10**9, object_store=2 * 10**9
    )
