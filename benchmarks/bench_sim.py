"""Link traversals a CPU second of the engines, on P64 (64 hosts, 8 leaves, 8 spines, permutation) and on 1024 hosts.

And the share of a whole call of :func:`capsim.simulate` that is not the engine's, at 1,024 and 8,192 hosts; and how
much less processor time an excerpt takes than its whole.

Each case asserts the number of traversals, so that a change which skips work does not count as faster.
"""

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from capsim import FlowList, LeafSpine, Poisson, Scenario, scheme, simulate
from capsim.engines import run
from capsim.engines.state import Setup
from capsim.run.simulation import compile_if_needed

pytestmark = [pytest.mark.bench, pytest.mark.benchmark(timer=time.process_time)]  # CPU, not wall: machines are shared

# Scheme: traversals in the whole run, and the rate to beat, in millions a CPU second.
COMPILED = {
    "ecmp": (3_530_743, 8),
    "rps": (3_716_512, 5),
    "rps_pq": (3_716_512, 5),
    "caps": (3_724_089, 5),
    "caps_dark": (3_719_245, 5),
    "dctcp": (3_505_947, 5),
}

# Traversals of runs whose hosts send several flows in turns
TURNS = {"ecmp": 2_062_936, "rps": 2_138_728}

# Share of ECMP's rate, measured in turn in one process, that a scheme should reach
BESIDE_ECMP = {
    "sack": (3_486_471, 0.88),
    "letflow": (3_540_248, 0.7),
    "presto": (3_511_127, 0.7),
    "drill": (3_631_525, 0.7),
    "pfabric": (3_507_200, 0.5),
    "cdcps": (5_225_652, 0.6),
    "mptcp": (3_604_207, 0.6),
    "ietf_mptcp": (4_217_975, 0.6),
    "dc2mtcp": (4_232_648, 0.6),
    "rack": (3_493_580, 0.85),
    "rps_trim": (3_543_680, 0.6),
    "ndp": (5_129_616, 0.6),
    "uet": (3_507_216, 0.5),
    "uet_drop": (3_507_200, 0.5),
}


def permutation(side, *, flow_bytes, name, short=False, **fabric):
    """Return the set-up: host i of side² sends to host i + side, 1 Gbps unless `fabric` says otherwise, 100 packets."""
    n = side * side
    kind = LeafSpine(leaves=side, hosts_per_leaf=side, spines=side, delay_s=1e-6, buffer_packets=100, **fabric)
    src = np.arange(n, dtype=np.int32)
    flows = FlowList(
        src=src,
        dst=((src + side) % n).astype(np.int32),
        flow_bytes=np.full(n, flow_bytes, np.int64),
        start_ps=np.zeros(n, np.int64),
        short=np.full(n, short),
        tag=np.zeros(n, np.int16),
        input_row=np.arange(n, dtype=np.int32),
    )
    return Setup(
        fabric=kind.build(), flows=flows, scheme=scheme(name).with_params(transport={"min_rto_s": 0.01}), end_ps=10**13
    )


def short_flows(name, *, flows=100_000):
    """Return flows of 20 kB between random hosts of P64, at a load of 0.6."""
    rng = np.random.default_rng(1)
    src = rng.integers(0, 64, flows)
    fabric = LeafSpine(leaves=8, hosts_per_leaf=8, spines=8, delay_s=1e-6, buffer_packets=100).build()
    drawn = FlowList(
        src=src.astype(np.int32),
        dst=((src + rng.integers(1, 64, flows)) % 64).astype(np.int32),
        flow_bytes=np.full(flows, 20_000, np.int64),
        start_ps=np.cumsum(rng.exponential(20_000 * 8 / (0.6 * 64e9) * 1e12, flows)).astype(np.int64),
        short=np.full(flows, True),
        tag=np.zeros(flows, np.int16),
        input_row=np.arange(flows, dtype=np.int32),
    )
    return Setup(
        fabric=fabric, flows=drawn, scheme=scheme(name).with_params(transport={"min_rto_s": 0.01}), end_ps=10**14
    )


def four_flows_a_host(name):
    """Return the set-up of P64 in which each host sends flows of 0.1, 0.4, 1.6 and 3.6 MB at once to other leaves."""
    one = permutation(8, flow_bytes=100_000, name=name)
    parts = [
        replace(one.flows, dst=(one.flows.src + 8 * leaves) % 64, flow_bytes=leaves**2 * one.flows.flow_bytes)
        for leaves in (1, 2, 4, 6)
    ]
    columns = [key for key, column in vars(one.flows).items() if np.shape(column) == one.flows.src.shape]
    together = {key: np.concatenate([getattr(part, key) for part in parts]) for key in columns}
    return replace(one, flows=replace(one.flows, **together))


def report(benchmark, label, records, expected, goal):
    counters = records.counters[0]
    assert counters["traversals"] == expected
    assert counters["open_subs"] == 0
    rate = counters["traversals"] / benchmark.stats["min"]
    dropped = records.ports["packets_dropped"].sum()
    print(f"\n{label}: {rate / 1e6:.2f} M traversals a CPU second (goal {goal}; {expected:,}, {dropped:,} drops)")


@pytest.mark.parametrize("name", COMPILED)
def test_compiled_p64(benchmark, name):
    # Coding is for short flows; here every flow counts as one, so that all packets go through it.
    setup = permutation(8, flow_bytes=10_000_000, name=name, short=name == "caps")
    records = benchmark.pedantic(run, (setup,), rounds=3, warmup_rounds=1)
    report(benchmark, f"compiled, P64, {name}", records, *COMPILED[name])


def share_of_rate(benchmark, setup, other):
    """Return the rate of a run over that of another one, medians of nine turns, and its traversals."""
    rates = []

    def other_before():
        begin = time.process_time()
        traversals = int(run(other).counters[0]["traversals"])
        rates.append(traversals / (time.process_time() - begin))

    records = benchmark.pedantic(run, (setup,), setup=other_before, rounds=9, warmup_rounds=1)
    traversals = int(records.counters[0]["traversals"])
    return traversals / benchmark.stats["median"] / float(np.median(rates)), traversals


@pytest.mark.parametrize("name", BESIDE_ECMP)
def test_compiled_p64_beside_ecmp(benchmark, name):
    expected, goal = BESIDE_ECMP[name]
    share, traversals = share_of_rate(
        benchmark, *(permutation(8, flow_bytes=10_000_000, name=each) for each in (name, "ecmp"))
    )
    assert traversals == expected
    print(f"\ncompiled, P64, {name}: {share:.2f} of the rate of ecmp (goal {goal})")


def test_caps_on_short_flows_beside_ecmp(benchmark):
    share, _ = share_of_rate(benchmark, short_flows("caps"), short_flows("ecmp"))
    print(f"\ncompiled, 100,000 flows of 20 kB, caps: {share:.2f} of the rate of ecmp (goal 0.8)")


@pytest.mark.parametrize(("name", "traversals"), TURNS.items())
def test_hosts_that_send_in_turns_beside_fifo(benchmark, name, traversals):
    from capsim.protocols.registry import NICS  # here, since paired.py imports this file with sources of before

    fifo = four_flows_a_host(name)
    turns = replace(fifo, scheme=fifo.scheme.with_nic(NICS["round_robin"]))
    share, found = share_of_rate(benchmark, turns, fifo)
    assert found == traversals
    print(f"\ncompiled, four flows a host, {name}: {share:.2f} of the rate with FIFO NICs (goal 0.6)")


def test_compiled_1024_hosts(benchmark):
    setup = permutation(32, flow_bytes=1_000_000, name="ecmp")
    records = benchmark.pedantic(run, (setup,), rounds=3, warmup_rounds=1)
    report(benchmark, "compiled, 1024 hosts, ecmp", records, 5_766_280, 6)


# Leaves, hosts of each, spines and flows; traversals of the run
WHOLE_CALLS = {"1024 hosts": ((32, 32, 32, 10_000), 34_091_007), "8192 hosts": ((256, 32, 32, 20_000), 69_281_535)}

# Traversals of 64 leaves, and of four of them
BESIDE_EXCERPT = (15_120_394, 940_109)


@pytest.mark.parametrize("name", WHOLE_CALLS)
def test_whole_call_of_simulate(benchmark, name):
    """From a scenario with a profile to its tables: building the fabric, drawing flows and ideal times included."""
    (leaves, hosts, spines, flows), traversals = WHOLE_CALLS[name]
    fabric = LeafSpine(leaves=leaves, hosts_per_leaf=hosts, spines=spines, rate_bps=400e9, delay_s=1e-6)
    traffic = (Poisson(workload="websearch", load=0.5, flows=flows),)
    scenario = Scenario(fabric=fabric, traffic=traffic, profile="400g", scheme="ecmp", end_s=1.0)
    compile_if_needed(scheme("ecmp"), engine="compiled")
    result = benchmark.pedantic(simulate, (scenario,), rounds=1)
    assert result.resources.traversals == traversals
    outside = 1 - result.resources.cpu_s / benchmark.stats["min"]
    print(f"\nwhole call, {name}: {benchmark.stats['min']:.2f} CPU s, {outside:.0%} outside the packets (goal 20%)")
    assert outside <= 0.2


def test_whole_beside_an_excerpt(benchmark):
    """64 leaves, and four of them, both with steady starts: whole calls in turn, medians of three."""
    from capsim import excerpt  # here, since paired.py imports this file with sources of before

    fabric = LeafSpine(leaves=64, hosts_per_leaf=8, spines=8, rate_bps=100e9, delay_s=1e-6)
    traffic = (Poisson(flow_bytes=100_000, load=0.6, flows=64_000, start="steady"),)
    whole = Scenario(fabric=fabric, traffic=traffic, profile="100g", scheme="ecmp")
    part, of_part, traversals = excerpt(whole, leaves=4), [], []

    def part_before():
        begin = time.process_time()
        traversals.append(simulate(part).resources.traversals)
        of_part.append(time.process_time() - begin)

    result = benchmark.pedantic(simulate, (whole,), setup=part_before, rounds=3, warmup_rounds=1)
    assert (result.resources.traversals, traversals[-1]) == BESIDE_EXCERPT
    less = benchmark.stats["median"] / float(np.median(of_part))
    print(f"\n64 leaves over four of them: {less:.0f} times the CPU time (goal 20)")


def test_reference_p64(benchmark):
    setup = permutation(8, flow_bytes=200_000, name="ecmp")
    records = benchmark.pedantic(run, (setup,), {"engine": "reference"}, rounds=3)
    report(benchmark, "reference, P64 with flows of 0.2 MB, ecmp", records, 70_181, 0.08)


def test_second_process(benchmark):
    """From the command to the end of a small simulation, machine code found on disk."""
    code = (
        "from bench_sim import permutation; from capsim.engines import run;"
        "run(permutation(2, flow_bytes=10_000, name='ecmp'))"
    )
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent)}
    command = [sys.executable, "-c", code]
    subprocess.run(command, check=True, env=environment)
    started = time.perf_counter()
    benchmark.pedantic(subprocess.run, (command,), {"check": True, "env": environment}, rounds=3)
    print(f"\nsecond process: {(time.perf_counter() - started) / 3:.2f} s")
