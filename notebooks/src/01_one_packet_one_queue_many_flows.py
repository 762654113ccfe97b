# %% [markdown]
# # One packet, one queue, many flows
#
# Between two servers of a data centre there are many paths of equal length. Most transfers (*flows*) are short and
# should be over soon; a few long ones carry most of the bytes. How long does a flow take, and why? This
# [course](../docs/course.md) answers with formulas and with simulated packets, and shows where each formula fails.
# Symbols that lessons share stand in [one table](../docs/glossary.md#symbols-of-the-course).
#
# **After this notebook** you can compute the completion time of a flow that is alone, simulate flows that are not, and
# read the line that says whether packets agree with a formula. It runs in about 15 s on one core; the first larger
# simulation on a machine compiles the simulator, which takes about half a minute.

# %%
import numpy as np
from matplotlib import pyplot as plt

from capsim import LeafSpine, Listed, Poisson, Probes, Scenario, Trace, compare, simulate, with_settings
from capsmodel.experiments.agreement import Count, agreement
from capsmodel.symbolic import DERIVATIONS

# %% [markdown]
# ## One packet
#
# Servers (*hosts*) are connected to *leaf* switches, and every leaf to every *spine* switch:
#
# ```text
#          spine0   spine1   spine2   spine3          every link: 1 Gbps, 10 µs
#             each spine is linked to both leaves
#                  leaf0            leaf1             buffer of a port: 50 packets
#            host0 ... host3   host4 ... host7
# ```
#
# From host 0 to host 4 a packet crosses four links. A switch forwards it when it has arrived whole. With its headers it
# has 1500 bytes, and a link of rate $C$ needs the *packet time* $\tau = 1500 \cdot 8 / C$ for them, 12 µs, and the
# delay $d$. A flow of $X$ packets is complete when the last byte of the last one has arrived. Assume that
#
# 1. nobody else sends,
# 2. all $X$ packets may leave back to back,
# 3. all links have the same rate.
#
# Let $t(i,j)$ be the time at which packet $i$ has left link $j$. SymPy, a program for algebra, checks each line:

# %%
DERIVATIONS["store_and_forward"]()

# %% [markdown]
# This is the least possible *flow completion time* (FCT). A completion time divided by it is called *slowdown*.


# %%
def fabric(delay_s=10e-6):
    return LeafSpine(leaves=2, hosts_per_leaf=4, spines=4, rate_bps=1e9, delay_s=delay_s, buffer_packets=50)


def alone_us(packets, delay_s):
    """Return the simulated completion time of a flow that is alone, in microseconds."""
    flow = Listed(flows=((0, 4, packets * 1460, 0.0),))  # source, destination, bytes without headers, start
    return 1e6 * simulate(Scenario(fabric=fabric(delay_s), traffic=(flow,)), scheme="ecmp").flows["fct_s"][0]


def formula_us(packets, delay_s):
    return 12 * packets + 3 * 12 + 4e6 * delay_s


# %% mystnb={"image": {"alt": "time over size: packets on the line of 10 µs, above that of 100 µs from 11 packets on"}}
sizes, line = (1, 4, 7, 10, 11, 15, 20, 30, 40), np.arange(1, 41)
measured = {delay_s: [alone_us(size, delay_s) for size in sizes] for delay_s in (10e-6, 100e-6)}
figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
for (delay_s, found), color in zip(measured.items(), ("C0", "C1"), strict=True):
    axes.plot(line, formula_us(line, delay_s), color=color, label=f"formula, links of {delay_s * 1e6:.0f} µs")
    axes.plot(sizes, found, "o", color=color, label=f"packets, links of {delay_s * 1e6:.0f} µs")
axes.set(xlabel="size of the flow X, packets", ylabel="flow completion time, µs", ylim=(0, None))
axes.legend(frameon=False)
plt.show()

# %% [markdown]
# Up to ten packets the simulator gives the formula to the picosecond. Then assumption 2 fails: TCP (transmission
# control protocol) sends ten packets and waits until the receiver's *acknowledgements* (ACKs) allow more. The first ACK
# comes after a *round-trip time* (RTT). With short links ten packets last nearly that long. With links of 100 µs the
# sender is idle for 0.73 ms. Its *window*, the packets that may be on their way, then doubles in each round trip, which
# is called *slow start*.
#
# ## One queue
#
# Now assumption 1 fails: three hosts send 1 MB each to host 4. Packets wait in the *queue* of the port from leaf 1 to
# host 4, and one that finds it full is dropped. *Probes* sample a port at regular times.

# %% mystnb={"image": {"alt": "queue over time: it fills up, is full at 50 packets, and empties after losses"}}
three = Scenario(
    fabric=fabric(),
    traffic=(Listed(flows=tuple((host, 4, 1_000_000, 0.0) for host in range(3))),),
    probes=Probes(period_s=50e-6, ports=("leaf1>host4",)),
)
crowded = simulate(three, scheme="ecmp")
queue = crowded.samples("port.queue_packets")["leaf1>host4"]
figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
axes.plot(queue.index * 1e3, queue, linewidth=0.8)
axes.axhline(51, color="grey", linestyle=":", label="buffer full, and one being sent")
axes.set(xlabel="time, ms", ylabel="packets at the port to host 4", ylim=(0, 62))
axes.legend(frameon=False, loc="upper right")
plt.show()
crowded.flows[["src", "fct_s", "slowdown", "packets_dropped", "retransmissions", "timeouts"]]

# %% [markdown]
# TCP increases its window until packets are lost, then halves it: the queue is full, drains and fills again. The sender
# notices a loss when three later packets have arrived, each of which the receiver answers with a *duplicate ACK*. If
# too few follow, it waits for its *retransmission timer*, at least 200 ms: a *timeout*.
#
# ## Many flows
#
# `Poisson` draws flows as real traffic has them: random starts, sizes of a published distribution (a web search), and
# so many that host links are busy for half of the time, a *load* of 0.5. `start="steady"` begins with the flows that
# are in progress at this load.
#
# The rule by which switches and hosts choose paths is the *scheme*. ECMP (equal-cost multipath) sends each flow on one
# path, by a *hash*, a number computed from its addresses. RPS (random packet spraying) draws a path for each packet.
# `compare` gives both the same flows, four times with other random numbers (*seeds*).

# %%
web = Poisson(workload="websearch", load=0.5, flows=400, start="steady", pairs="other-leaf")
many = Scenario(fabric=fabric(), traffic=(web,))
compared = compare(many, schemes=["ecmp", "rps"], seeds=4)
table = compared.table(["mean_fct_short_s", "mean_fct_long_s", "reorder_ratio"])
table[["scheme", "metric", "mean", "half_width", "ratio", "ratio_low", "ratio_high"]]

# %% [markdown]
# `mean` ± `half_width` is a *95% confidence interval*: of many such intervals, each from other seeds, 95% contain the
# true mean. `ratio` is the geometric mean over seeds of the ratios to the first scheme, with its interval. For short
# flows (up to 100 KB) it is wide, since a few timeouts decide the mean. `reorder_ratio` is the share of packets that
# arrive after one that was sent later; to the 0 of ECMP there is no ratio.
#
# ## Do packets agree with a formula?
#
# ECMP puts a flow on each of the four paths with probability 1/4, assuming that
#
# 4. the hash of a flow is as good as a random number.
#
# The *trace* of a run has every packet at every port. Which spine did each flow take?

# %%
starts_s = 1e-3 * np.arange(1000)
triples = tuple((host, 4 + host, 1460, float(start_s)) for start_s in starts_s for host in range(3))
traced = simulate(Scenario(fabric=fabric(), traffic=(Listed(flows=triples),), trace="packets"), scheme="ecmp")
uplinks = Trace.of(traced).at("leaf>spine", event="enqueued", packet="data").sort_values("flow")
on_spine0 = uplinks["port"].astype(str).str.endswith("spine0").to_numpy()
verdict = agreement(0.25, Count(successes=int(on_spine0.sum()), trials=len(on_spine0)), detect=0.06)
wrong = agreement(1 / 3, Count(successes=int(on_spine0.sum()), trials=len(on_spine0)), detect=0.06)
few = agreement(0.25, Count(successes=int(on_spine0[:100].sum()), trials=100), detect=0.06)
print(verdict, wrong, few, sep="\n\n")

# %% [markdown]
# Each line begins with the verdict. **p** is the probability of a difference at least as large as this one if the
# formula is right. Only below the **level** of one in a hundred thousand the verdict is *disagrees*, since hundreds of
# comparisons are made. The **standard error** of a share is the one that the formula predicts, $\sqrt{p(1-p)/n}$. The
# **declared bias** is an error that the formula is known to have. Last comes the probability that the test would notice
# if the true share were 0.06 off. Below 0.99 the verdict is *too few samples*.
#
# ## Exercises
#
# 1. By hand: the completion time of one packet from host 0 to host 1, at the same leaf. Then simulate it.
# 2. With packets: how large a buffer do the three flows of 1 MB need so that nothing is lost? Is the last flow faster?
# 3. Open: three flows start together. Write a model of the probability that ECMP gives all three different paths, and
#    test it with `agreement` on the `triples` above. Which assumption would fail for three flows of one host to one
#    host?
#
# Solutions are folded below.

# %% jupyter={"source_hidden": true, "outputs_hidden": true} tags=["hide-cell"]
# 1. Two links: 2 * 12 µs to send it, 2 * 10 µs of delay.
near = simulate(Scenario(fabric=fabric(), traffic=(Listed(flows=((0, 1, 1460, 0.0),)),)), scheme="ecmp").flows
print(f"1. 44 µs by hand, {near['fct_s'][0] * 1e6:.0f} µs simulated")

# 2. 1008 packets are enough, about half of the 2055 that the three flows have, since the port sends while they arrive.
# The link of host 4 needs 24.7 ms for 3 MB, so the last flow cannot be faster. With 200 and 500 packets it is slower:
# more are lost, and while they are repaired the link is idle at times.
lost, last_ms = {}, {}
for packets in (50, 200, 500, 1000, 1008):
    run = simulate(with_settings(three, {"fabric.buffer_packets": packets}), scheme="ecmp")
    lost[packets], last_ms[packets] = run.summary.packets_dropped, 1e3 * run.flows["fct_s"].max()
    print(f"2. buffer {packets}: {lost[packets]} lost, last flow {last_ms[packets]:.1f} ms")

# 3. The second flow avoids one path of four, the third two. The hash is of addresses and port numbers: from one host to
# another only the port numbers differ, so the model holds if the hash mixes them well.
spines = uplinks["port"].astype(str).str[-1].to_numpy().reshape(-1, 3)
different = np.array([len(set(row)) == 3 for row in spines])
model = 3 / 4 * 2 / 4
print("3.", agreement(model, Count(successes=int(different.sum()), trials=len(different)), detect=0.12))

# %% jupyter={"source_hidden": true, "outputs_hidden": true} tags=["hide-cell"]
# The text of this notebook, asserted.
assert np.allclose(measured[10e-6][:4], formula_us(np.array(sizes[:4]), 10e-6), atol=1e-6)
assert measured[100e-6][4] > 600 + formula_us(11, 100e-6)
assert queue.max() == 51
assert crowded.summary.timeouts == 0 < crowded.summary.packets_dropped
assert verdict.verdict == "agrees"
assert wrong.verdict == "disagrees"
assert few.verdict == "too few samples"
assert lost[1000] > 0 == lost[1008]
assert 24.7 < last_ms[1008] < 24.8 < last_ms[50] < 25 < last_ms[200] < last_ms[500]
