# %% [markdown]
# # Reordering in packets
#
# A switch that sprays chooses a path for each packet of a flow. If a packet takes a slow path, a later one on a fast
# path may overtake it. Eq. 1-3 of CDCPS (coding-based distributed congestion-aware packet spraying) give the
# probability of that for a flow of $S$ packets when each takes a slow path with probability $P_b$:
#
# $$P_r = 1-\sum_{a=0}^{S}(1-P_b)^aP_b^{S-a}$$
#
# (notebook 4). The formula contains no time: a later packet on a fast path always overtakes. Here packets are sent
# through the simulator, over 40 paths of which some take 5 ms longer, and counted.
#
# **After this notebook** you can build a fabric whose paths differ, count the packets that are overtaken, and say for
# which delays the formula is exact and what it does not describe. It runs in about 10 s on two cores.

# %%
from itertools import pairwise

import msgspec
import numpy as np
from matplotlib import pyplot as plt

import capsmodel as cm
from capsim import LinkChange, Listed, ParallelPaths, Scenario, simulate
from capsmodel.experiments.agreement import Count, agreement
from capsmodel.experiments.statistics.intervals import mean_interval, wilson_interval
from capsmodel.reordering.probability import expected_overtaken_packets

# %% [markdown]
# ## The fabric and the flows
#
# Two hosts are joined by 40 paths of 1 Gbps; `LinkChange` gives the slow ones a longer delay. One flow is sent after
# the other, each 50 ms after the one before, so that none meets another. All its packets leave at once, 12 µs apart,
# since its window is as large as the flow; and nobody retransmits, since the duplicate-ACK threshold is never reached.
# Change what you like: `simulate` checks that the pieces fit.

# %%
PATHS, RATE_BPS, MSS_BYTES = 40, 1e9, 1460
SPACING_S = 8 * (MSS_BYTES + 40) / RATE_BPS  # between two packets of a flow
FAR_S = 5e-3  # longer than any flow here takes to leave
FLOWS = 2000


def sprayed_scenario(flow_packets, *, slow_paths, slower_s=FAR_S, host_rate_bps=RATE_BPS, flows=FLOWS):
    """Return flows of equal size, one after the other, over paths of which some are slower."""
    slow = tuple(
        LinkChange(between=("left", "right"), one_way=True, parallel=path + 1, delay_s=1e-6 + slower_s)
        for path in range(slow_paths)
    )
    return Scenario(
        fabric=ParallelPaths(
            paths=PATHS, hosts_per_side=1, rate_bps=RATE_BPS, host_rate_bps=host_rate_bps, delay_s=1e-6, links=slow
        ),
        traffic=(Listed(flows=tuple((0, 1, flow_packets * MSS_BYTES, 0.05 * i) for i in range(flows))),),
        params={"transport": {"initial_window_packets": flow_packets, "dup_ack_threshold": 10_000}},
        seed=11,
        end_s=0.05 * flows + 1,
    )


few = simulate(sprayed_scenario(10, slow_paths=20, flows=5), scheme="rps").flows
few[["src", "dst", "flow_bytes", "start_s", "fct_s", "reordered_packets", "duplicate_acks"]]

# %% [markdown]
# `reordered_packets` counts the packets that a later one overtook. Only these counts are needed from here on:


# %%
def sprayed(**setting):
    """Return how many flows had how many overtaken packets."""
    flows = simulate(sprayed_scenario(**setting), scheme="rps").flows
    counts = flows.groupby("reordered_packets").size().rename("flows").reset_index()
    return counts.rename(columns={"reordered_packets": "overtaken_packets"})


def reordered(found):
    """Return how many flows have a packet that a later one overtook."""
    return Count(successes=int(found["flows"][found["overtaken_packets"] > 0].sum()), trials=int(found["flows"].sum()))


def interval(count):
    """Return share, and lengths of the error bar below and above it."""
    ends = wilson_interval(count.successes, trials=count.trials)
    share = count.successes / count.trials
    return share, share - ends.low, ends.high - share


# %% [markdown]
# ## How likely: over the number of slow paths
#
# Dots are simulated flows with 95% intervals, lines the formula. Notebook 7 explains the printed line.

# %% mystnb={"image": {"alt": "share of reordered flows over slow paths: dots on the hump of the formula"}}
SIZES, SLOW = (2, 5, 10), (0, 2, 6, 12, 20, 28, 34, 38, 40)
counts = {size: [reordered(sprayed(flow_packets=size, slow_paths=slow)) for slow in SLOW] for size in SIZES}
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
n_b = np.arange(PATHS + 1)
for size in SIZES:
    (line,) = axes.plot(n_b, cm.reordering_prob(size, congested_prob=n_b / PATHS), label=f"S = {size}")
    share, below, above = np.transpose([interval(count) for count in counts[size]])
    axes.errorbar(SLOW, share, [below, above], fmt="o", ms=4, capsize=2, color=line.get_color())
axes.set(xlabel=f"slow paths of {PATHS}", ylabel="share of flows reordered")
axes.legend(frameon=False)
plt.show()
verdict = agreement(cm.reordering_prob(5, congested_prob=0.5), counts[5][SLOW.index(20)], detect=0.08)
print(verdict)

# %% [markdown]
# Reordering is most likely when half of the paths are slow: if few are slow, few packets are late; if few are fast, few
# overtake.
#
# ## How far: over the delay of the slow paths
#
# Packets leave 12 µs apart. With a shorter delay no packet overtakes, and the formula is wrong. From one spacing on it
# is right for every delay, because between a slow packet and any later fast one there is always a slow one directly
# followed by a fast one. What grows with the delay is *how many* packets are overtaken, up to the mean of the model,
# $P_b(SP_g-1+P_b^S)/P_g$.

# %% mystnb={"image": {"alt": "no flow is reordered below one packet spacing, then as many as the formula says"}}
SPACINGS = (0.25, 0.5, 0.75, 1.5, 2.5, 4.5, 7.5, 12.5)
delayed = [sprayed(flow_packets=10, slow_paths=20, slower_s=spacings * SPACING_S) for spacings in SPACINGS]
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
share, below, above = np.transpose([interval(reordered(found)) for found in delayed])
left.errorbar(SPACINGS, share, [below, above], fmt="o", ms=4, capsize=2, label="packets")
left.axhline(cm.reordering_prob(10, congested_prob=0.5), color="C1", label="CDCPS Eq. 3")
left.set(ylabel="share of flows of 10 packets reordered", ylim=(-0.03, 1.03))
overtaken = [mean_interval(np.repeat(found["overtaken_packets"], found["flows"])) for found in delayed[3:]]
means = np.array([found.value for found in overtaken])
right.errorbar(SPACINGS[3:], means, [found.high - found.value for found in overtaken], fmt="o", ms=4, capsize=2)
right.plot(SPACINGS[:3], [0] * 3, "o", ms=4, color="C0", label="packets")
right.axhline(expected_overtaken_packets(10, congested_prob=0.5), color="C1", label="model without time")
right.set(ylabel="mean number of packets overtaken", ylim=(-0.15, 5))
for axes in (left, right):
    axes.axvline(1, color="grey", ls=":", label="spacing of two packets")
    axes.set(xlabel="delay of a slow path, in packet spacings")
    axes.legend(frameon=False)
plt.show()

# %% [markdown]
# ## Where the formula breaks: a flow that queues behind itself
#
# So far no packet waits in a queue, because a host is no faster than a path. If the host is faster, two packets on the
# same path queue there while others pass. No path is slow, $P_r$ is 0, and still flows are reordered.

# %%
FASTER = (1, 2, 4, 10)
own_queue = [reordered(sprayed(flow_packets=30, slow_paths=0, host_rate_bps=times * RATE_BPS)) for times in FASTER]
for times, count in zip(FASTER, own_queue, strict=True):
    share, below, above = interval(count)
    print(f"host {times:2d} times as fast as a path: {share:.1%} of flows of 30 packets reordered")

# %% [markdown]
# So Eq. 1-3 describe one cause of reordering: paths with two different delays. They are exact if the delays differ by
# more than the spacing of two packets. For a burst from a fast host they are not even a bound.

# %% [markdown]
# ## Exercises
#
# 1. With how many slow paths of 40 are flows of 5 packets reordered with probability 1/2? Compute it, then check it
#    with packets.
# 2. Let 20 paths be slower by 1.5 packet spacings. How many of the 10 packets of a flow can be overtaken at most? Check
#    with `overtaken_packets`.
# 3. Two of the 40 paths have 100 Mbps instead of a longer delay. Are flows of 10 packets reordered more or less often
#    than with two paths that are 5 ms slower?
#
# The next cell, which is folded, has solutions.

# %% jupyter={"source_hidden": true, "outputs_hidden": true} tags=["hide-cell"]
# 1. The formula over all numbers of slow paths.
by_formula = cm.reordering_prob(5, congested_prob=n_b / PATHS)
half = int(np.argmin(np.abs(by_formula[:20] - 0.5)))
found = reordered(sprayed(flow_packets=5, slow_paths=half))
print(f"1. {half} slow paths: {by_formula[half]:.3f} by the formula, {found.successes / found.trials:.3f} in packets")

# 2. A slow packet is overtaken only by a fast one sent directly after it, so at most every second packet.
near = sprayed(flow_packets=10, slow_paths=20, slower_s=1.5 * SPACING_S)
print("2. flows by overtaken packets:", dict(near.to_numpy().tolist()))

# 3. A packet takes 120 µs on a slow link, nine spacings longer: a difference of that size is as good as 5 ms for the
# question whether, not for how many. But a second packet on such a link waits for the first one, too.
scenario = sprayed_scenario(10, slow_paths=0)
links = tuple(LinkChange(between=("left", "right"), one_way=True, parallel=n, rate_bps=1e8) for n in (1, 2))
slow_links = scenario.replace(fabric=msgspec.structs.replace(scenario.fabric, links=links))
by_rate = (simulate(slow_links, scheme="rps").flows["reordered_packets"] > 0).mean()
by_delay = cm.reordering_prob(10, congested_prob=2 / PATHS)
print(f"3. two links of 100 Mbps: {by_rate:.3f}, two slower paths: {by_delay:.3f}")
assert agreement(by_formula[half], found, detect=0.08)
assert near["overtaken_packets"].max() <= 5
assert abs(by_rate - by_delay) < 0.05

# %%
# The text of this notebook, asserted.
assert verdict, verdict
for size in SIZES:
    shares = [count.successes / count.trials for count in counts[size]]
    assert np.argmax(shares) == SLOW.index(20)
    assert shares[0] == shares[-1] == 0
assert np.isclose(SPACING_S, 12e-6)
assert all(reordered(found).successes == 0 for found in delayed[:3])
for found in delayed[3:]:
    assert agreement(cm.reordering_prob(10, congested_prob=0.5), reordered(found), detect=0.04)
assert all(after.low > before.value for before, after in pairwise(overtaken[:3]))
unlimited = expected_overtaken_packets(10, congested_prob=0.5)
assert agreement(unlimited, np.repeat(delayed[-1]["overtaken_packets"], delayed[-1]["flows"]), detect=0.3)
assert own_queue[0].successes == 0
assert all(wilson_interval(count.successes, trials=count.trials).low > 0 for count in own_queue[1:])
