"""Collectives: who sends what after what, by a second description of each; their times on an idle fabric exactly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.engine_setups import one_run, setup_of

from capsim import Collective, Incast, LeafSpine, ParameterError, Result, Scenario, draw_flows, simulate
from capsim.records import NONE
from capsim.scenario.scenario import from_dict

MSS, HEADER, ACK, RATE_BPS, DELAY_PS = 1460, 40, 40, 10**9, 10**8
FABRIC = LeafSpine(leaves=8, hosts_per_leaf=1, spines=1, rate_bps=RATE_BPS, delay_s=DELAY_PS / 1e12)
BYTE_PS = 8 * 10**12 // RATE_BPS
LINKS = 4  # from a host to one under another leaf


def drawn(fabric=FABRIC, **options):
    return draw_flows((Collective(**options),), fabric.build(), seed=1, short_bytes=100_000)


def messages(flows):
    """Return the flows by position in the entry: (src, dst, bytes), and the positions that each waits for."""
    order = np.argsort(flows.input_row)
    found = [(int(flows.src[i]), int(flows.dst[i]), int(flows.flow_bytes[i])) for i in order]
    waits = {row: set() for row in range(len(found))}
    for flow, other in flows.after.tolist():
        waits[int(flows.input_row[flow])].add(int(flows.input_row[other]))
    return found, waits


def chunk_bytes(vector_bytes, n):
    return [vector_bytes // n + (chunk < vector_bytes % n) for chunk in range(n)]


def ring(n, steps):
    """Return by step and host to whom, and which chunks: the one that came in the step before."""
    held = list(range(n))
    for _ in range(steps):
        yield [((host + 1) % n, {held[host]}) for host in range(n)]
        held = [held[host - 1] for host in range(n)]


def halving_doubling(n):
    """Return the same by halves of what a host is responsible for: recursion in place of bits."""
    own = [set(range(n)) for _ in range(n)]
    away, steps = n, []
    while away > 1:
        away //= 2
        step = []
        for host in range(n):
            ordered = sorted(own[host])
            low, high = set(ordered[:away]), set(ordered[away:])
            keep, give = (low, high) if host in low else (high, low)
            step.append((host + away if keep is low else host - away, give))
            own[host] = keep
        steps.append(step)
    yield from steps
    while away < n:
        yield [(steps[-1][host][0], own[host]) for host in range(n)]
        own = [own[host] | own[steps[-1][host][0]] for host in range(n)]
        away *= 2
        steps.pop()


def expected_steps(algorithm, n):
    if algorithm == "alltoall":
        return [[((host + 1 + step) % n, {(host + 1 + step) % n}) for host in range(n)] for step in range(n - 1)]
    if algorithm == "halving_doubling":
        return list(halving_doubling(n))
    return list(ring(n, (2 if algorithm == "ring_allreduce" else 1) * (n - 1)))


ALGORITHMS = ("ring_allreduce", "ring_reducescatter", "ring_allgather", "halving_doubling", "alltoall")


@given(st.sampled_from(ALGORITHMS), st.sampled_from([2, 4, 8]), st.integers(8, 5000), st.integers(1, 3))
def test_messages_are_those_of_a_second_description(algorithm, n, vector_bytes, iterations):
    """Ends, bytes, and that a host waits for what it received in the step before; between iterations for all of it."""
    flows = drawn(algorithm=algorithm, vector_bytes=vector_bytes, hosts=n, iterations=iterations, compute_s=1e-3)
    sizes, steps = chunk_bytes(vector_bytes, n), expected_steps(algorithm, n)
    found, waits = messages(flows)
    each = n * len(steps)
    assert len(found) == each * iterations
    for row, (src, dst, size) in enumerate(found):
        iteration, place = divmod(row, each)
        step, host = divmod(place, n)
        to, chunks = steps[step][host]
        assert (src, dst, size) == (host, to, sum(sizes[chunk] for chunk in chunks))
        before = {other for other, (_, receiver, _) in enumerate(found) if receiver == host}
        if algorithm != "alltoall" and step:
            first = iteration * each + (step - 1) * n
            assert waits[row] == {other for other in before if first <= other < first + n}
        else:
            assert waits[row] == {other for other in before if other // each == iteration - 1}
    halves = 2 if algorithm in ("ring_allreduce", "halving_doubling") else 1
    assert sum(size for *_, size in found[:each]) == halves * (n - 1) * vector_bytes


def test_an_allreduce_gives_every_host_every_contribution():
    """What is summed and passed on, as sets of contributions: all have all in the end, each chunk once at a time."""
    for algorithm, n in (("ring_allreduce", 5), ("halving_doubling", 8)):
        has = [[{host} for _ in range(n)] for host in range(n)]
        for step in expected_steps(algorithm, n):
            before = [[set(chunk) for chunk in chunks] for chunks in has]
            for host, (to, chunks) in enumerate(step):
                for chunk in chunks:
                    has[to][chunk] |= before[host][chunk]
        assert all(chunk == set(range(n)) for chunks in has for chunk in chunks)


def one_way_ps(packets):
    """Return how long so many full packets take over an idle path."""
    packet_ps = (MSS + HEADER) * BYTE_PS
    return (packets - 1 + LINKS) * packet_ps + LINKS * DELAY_PS


def test_a_ring_takes_its_steps_one_after_another():
    """2 (N-1) chunks of three packets, to the picosecond; both engines.

    Each step after the first begins behind the acknowledgement, at the same NIC, of what the host waited for.
    """
    n = 5
    flows = drawn(algorithm="ring_allreduce", vector_bytes=n * 3 * MSS, hosts=n, iterations=2, compute_s=1e-3)
    records = one_run(setup_of(FABRIC, flows))
    steps = 2 * (n - 1)
    once_ps = steps * one_way_ps(3) + (steps - 1) * ACK * BYTE_PS
    ends = np.zeros(len(flows), np.int64)
    ends[flows.input_row] = records.flows["received_ps"]
    assert ends.reshape(2, steps, n).max(axis=(1, 2)).tolist() == [once_ps, 2 * once_ps + 10**9]
    assert (ends.reshape(2, steps, n).min(axis=2) == ends.reshape(2, steps, n).max(axis=2)).all()


def test_halving_and_doubling_take_chunks_of_twice_the_size():
    """Of 8 hosts: 4, 2, 1, 1, 2 and 4 chunks of one packet each."""
    flows = drawn(algorithm="halving_doubling", vector_bytes=8 * MSS, hosts=8)
    records = one_run(setup_of(FABRIC, flows))
    total_ps = sum(one_way_ps(packets) for packets in (4, 2, 1, 1, 2, 4)) + 5 * ACK * BYTE_PS
    assert records.flows["received_ps"].max() == total_ps


@pytest.mark.parametrize("at_sender", [False, True])
def test_the_window_of_an_all_to_all(at_sender):
    """Two at a time: flow j of a host begins when flow j - 2 is complete, where the entry says; both engines."""
    where = "sender" if at_sender else "receiver"
    flows = drawn(algorithm="alltoall", vector_bytes=6 * 3000, hosts=6, window_flows=2, after_at=where, iterations=2)
    records = one_run(setup_of(FABRIC, flows, "rps"))
    columns = ("begin_ps", "received_ps", "acked_ps")
    by_row = {name: np.zeros(len(flows), np.int64) for name in columns}
    for name in columns:
        by_row[name][flows.input_row] = records.flows[name]
    begin, received, acked = (by_row[name].reshape(2, 5, 6) for name in columns)
    ends = acked if at_sender else received
    assert (begin[:, 2:] == ends[:, :-2]).all()
    assert (begin[0, :2] == 0).all()
    to = (np.arange(6) + 1 + np.arange(5)[:, None]) % 6
    of_host = np.array([received[0][to == host].max() for host in range(6)])
    assert (begin[1, :2] == of_host).all()
    assert records.counters["due"] == 0


def test_the_results_of_each_operation():
    """Two groups side by side, shuffled, and their bus bandwidth; the result that is read back has the same table."""
    entry = Collective(
        algorithm="ring_allreduce",
        vector_bytes=3 * MSS,
        skip_hosts=2,
        groups=2,
        iterations=2,
        compute_s=1e-4,
        placement="shuffled",
    )
    scenario = Scenario(fabric=FABRIC, traffic=(Incast(senders_per_round=1, flow_bytes=1, start_s=0.1), entry), seed=3)
    assert from_dict(scenario.to_dict()) == scenario
    result = simulate(scenario, engine="reference")
    table = result.collectives
    assert table[["traffic_entry", "hosts", "vector_bytes"]].drop_duplicates().to_numpy().tolist() == [[1, 3, 3 * MSS]]
    assert table[["iteration", "group"]].to_numpy().tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    steps, packets = 4, one_way_ps(1)
    assert table["completion_s"].to_numpy() == pytest.approx(
        (steps * packets + (steps - 1) * ACK * BYTE_PS) / 1e12, rel=1e-12
    )
    bits = 8 * 2 * 2 / 3 * 3 * MSS
    assert (table["bus_bandwidth_bps"] * table["completion_s"]).to_numpy() == pytest.approx(bits, rel=1e-12)
    ours = result.flows[result.flows["traffic_entry"] == 1]
    groups = [set(ours.loc[ours["input_row"] % 24 // 12 == group, "src"]) for group in (0, 1)]
    assert [len(group) for group in groups] == [3, 3]
    assert not groups[0] & groups[1]
    in_order = simulate(
        scenario.replace(traffic=(Collective(algorithm="alltoall", vector_bytes=8),)), engine="reference"
    )
    assert in_order.collectives["hosts"].tolist() == [8]
    assert len(simulate(scenario.replace(traffic=scenario.traffic[:1]), engine="reference").collectives) == 0


def test_an_operation_that_does_not_end(tmp_path):
    """Its times are missing, and infinite where it never began; a file says the same."""
    entry = Collective(algorithm="ring_allgather", vector_bytes=30 * MSS, hosts=3, iterations=2)
    result = simulate(Scenario(fabric=FABRIC, traffic=(entry,), end_s=500e-6), engine="reference")
    table = Result.load(result.save(tmp_path / "run")).collectives
    assert table.equals(result.collectives)
    assert table["start_s"].tolist() == [0.0, np.inf]
    assert table[["completion_s", "bus_bandwidth_bps"]].isna().all(axis=None)
    assert result.summary.unstarted_flows == int((result.raw.flows["begin_ps"] == NONE).sum()) == 9


def test_what_cannot_be_is_refused_in_one_line(subtests):
    cases = [
        ({"hosts": 1}, "a collective needs two hosts or more"),
        ({"hosts": 9}, "only 8 hosts are left here, but skip_hosts = 0 and hosts want more"),
        ({"skip_hosts": 7}, "only 1 hosts are left here, but skip_hosts = 7"),
        ({"groups": 3}, "traffic.groups = 3, but 8 hosts make no 3 groups of equal size"),
        ({"groups": 8}, "traffic.groups = 8, but"),
        ({"vector_bytes": 7}, "traffic.vector_bytes = 7, but each of 8 hosts has a chunk of a byte or more"),
        (
            {"algorithm": "halving_doubling", "hosts": 6},
            "groups have 6 hosts, but halving_doubling needs a power of two",
        ),
        ({"window_flows": 2}, "traffic.window_flows = 2, but only alltoall has a window: leave it out"),
    ]
    for options, text in cases:
        with subtests.test(options=options, text=text):
            with pytest.raises(ParameterError) as caught:
                drawn(**{"algorithm": "ring_allreduce", "vector_bytes": 8000} | options)
            assert text in str(caught.value)
            assert "\n" not in str(caught.value)


def test_more_waits_than_memory_are_refused():
    """An all-to-all of 1024 hosts twice, all at once: each of a million flows waits for a thousand others, in 86 GB."""
    fabric = LeafSpine(leaves=2, hosts_per_leaf=512, spines=1)
    with pytest.raises(ParameterError, match=r"what flows wait for, 1071\d{6} pairs, would not fit in memory"):
        drawn(fabric, algorithm="alltoall", vector_bytes=1024, iterations=2)


def test_an_incast_at_a_share_of_capacity():
    """Rounds 8 * 4 * 10,000 / (0.4 * 1 Gbit/s) apart, 0.8 ms; as a Poisson process on average."""
    options = {"senders_per_round": 4, "flow_bytes": 10_000, "rounds": 400, "load": 0.4}
    build = LeafSpine(leaves=2, hosts_per_leaf=4, spines=1, host_rate_bps=1e9, rate_bps=4e9).build()
    regular = draw_flows((Incast(**options),), build, seed=1, short_bytes=0)
    starts = np.unique(regular.start_ps)
    assert (np.diff(starts) == 800_000_000).all()
    assert len(starts) == 400
    poisson = draw_flows((Incast(poisson=True, **options),), build, seed=1, short_bytes=0)
    mean_ps = np.ptp(poisson.start_ps) / 399
    assert mean_ps == pytest.approx(8e8, rel=3 / 20)
    with pytest.raises(ParameterError, match="an incast has load or period_s, not both"):
        draw_flows((Incast(period_s=1.0, **options),), build, seed=1, short_bytes=0)
