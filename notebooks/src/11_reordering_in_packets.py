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

# %%
from itertools import pairwise

import numpy as np
from matplotlib import pyplot as plt

import capsmodel as cm
from capsmodel.experiments.agreement import Count, agreement
from capsmodel.experiments.statistics.intervals import mean_interval, wilson_interval
from capsmodel.experiments.sweep import Task, gather
from capsmodel.papers.measurements.sprayed_reordering import FAR_S, PATHS, RATE_BPS, SPACING_S, sprayed_flows
from capsmodel.reordering.probability import expected_overtaken_packets

FLOWS = 2000


def sprayed(**setting):
    """Return the counts of one setting."""
    return gather([Task(sprayed_flows, **{"flows": FLOWS, "seed": 11} | setting)])


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
# Dots are simulated flows with 95% intervals, lines the formula.

# %%
SIZES, SLOW = (2, 5, 10), (0, 2, 6, 12, 20, 28, 34, 38, 40)
counts = {size: [reordered(sprayed(flow_packets=size, slow_paths=slow)) for slow in SLOW] for size in SIZES}
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
n_b = np.arange(PATHS + 1)
for size in SIZES:
    (line,) = axes.plot(n_b, cm.reordering_prob(size, congested_prob=n_b / PATHS), label=f"S = {size}")
    share, below, above = np.transpose([interval(count) for count in counts[size]])
    axes.errorbar(SLOW, share, [below, above], fmt="o", ms=4, capsize=2, color=line.get_color())
axes.set(xlabel=f"slow paths of {PATHS}", ylabel="flows reordered")
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

# %%
SPACINGS = (0.25, 0.5, 0.75, 1.5, 2.5, 4.5, 7.5, 12.5)
delayed = [sprayed(flow_packets=10, slow_paths=20, slower_s=spacings * SPACING_S) for spacings in SPACINGS]
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
share, below, above = np.transpose([interval(reordered(found)) for found in delayed])
left.errorbar(SPACINGS, share, [below, above], fmt="o", ms=4, capsize=2, label="packets")
left.axhline(cm.reordering_prob(10, congested_prob=0.5), color="C1", label="CDCPS Eq. 3")
left.set(ylabel="flows of 10 packets reordered", ylim=(-0.03, 1.03))
overtaken = [mean_interval(np.repeat(found["overtaken_packets"], found["flows"])) for found in delayed[3:]]
means = np.array([found.value for found in overtaken])
right.errorbar(SPACINGS[3:], means, [found.high - found.value for found in overtaken], fmt="o", ms=4, capsize=2)
right.plot(SPACINGS[:3], [0] * 3, "o", ms=4, color="C0", label="packets")
right.axhline(expected_overtaken_packets(10, congested_prob=0.5), color="C1", label="model without time")
right.set(ylabel="packets of a flow overtaken", ylim=(-0.15, 5))
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
# So Eq. 1-3 describe one cause of reordering, paths with two delays. For it they are exact once the difference exceeds
# the spacing of two packets. They are not a bound for a burst from a fast host.

# %%
# The text of this notebook, asserted.
assert verdict, verdict
for size in SIZES:
    shares = [count.successes / count.trials for count in counts[size]]
    assert np.argmax(shares) == SLOW.index(20)
    assert shares[0] == shares[-1] == 0
assert FAR_S == 5e-3
assert np.isclose(SPACING_S, 12e-6)
assert all(reordered(found).successes == 0 for found in delayed[:3])
for found in delayed[3:]:
    assert agreement(cm.reordering_prob(10, congested_prob=0.5), reordered(found), detect=0.04)
assert all(after.low > before.value for before, after in pairwise(overtaken[:3]))
unlimited = expected_overtaken_packets(10, congested_prob=0.5)
assert agreement(unlimited, np.repeat(delayed[-1]["overtaken_packets"], delayed[-1]["flows"]), detect=0.3)
assert own_queue[0].successes == 0
assert all(wilson_interval(count.successes, trials=count.trials).low > 0 for count in own_queue[1:])
