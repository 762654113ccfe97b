# %% [markdown]
# # A first simulation
#
# A formula describes one effect at a time. In a network there are many at once: queues, lost packets, retransmissions,
# other flows. The notebooks from here on send packets through a simulator and compare. This one shows how: build a
# fabric, send flows over it, read what happened, compare two schemes, and compare packets with a formula.
#
# **After this notebook** you can describe a run as a `Scenario`, change its fabric and its flows, read the tables of a
# result, and read the line that says whether packets agree with a formula. It runs in about 10 s on two cores; the very
# first simulation on a machine compiles the simulator, which takes up to two minutes.

# %%
import numpy as np
from matplotlib import pyplot as plt

from capsim import LeafSpine, Listed, Poisson, Probes, Scenario, Trace, compare, simulate, with_settings
from capsmodel.experiments.agreement import Count, agreement

# %% [markdown]
# ## A fabric and one flow
#
# A *leaf-spine* has hosts at leaf switches, and each leaf has a link to each spine switch. This one has 2 leaves with 4
# hosts each and 4 spines, so there are 4 paths between hosts of different leaves:
#
# ```text
#          spine0   spine1   spine2   spine3          every link: 1 Gbps, 10 µs
#             each spine is linked to both leaves
#                  leaf0            leaf1             each port of a switch: 50 packets
#            host0 ... host3   host4 ... host7
# ```
#
# A scenario is a fabric and its traffic. Here a single flow of 10 packets of 1460 bytes goes from host 0 to host 4; the
# entries of a listed flow are source, destination, bytes and start in seconds. Change the numbers and run the cell
# again.

# %%
FABRIC = LeafSpine(leaves=2, hosts_per_leaf=4, spines=4, rate_bps=1e9, delay_s=10e-6, buffer_packets=50)
alone = simulate(Scenario(fabric=FABRIC, traffic=(Listed(flows=((0, 4, 14_600, 0.0),)),)), scheme="ecmp")
alone.flows[["src", "dst", "flow_bytes", "packets_sent", "fct_s", "slowdown"]]

# %% [markdown]
# `fct_s` is the *flow completion time*: from the start of the flow until its last byte has arrived. It can be computed
# by hand. A packet with its 40 bytes of headers has 1500 bytes, which take 12 µs at 1 Gbps. All ten leave back to back,
# since TCP may send ten packets before the first acknowledgement (ACK). The last one has left the host after 10 · 12
# µs; three more links take 12 µs each, and every one of the four links has a delay of 10 µs:

# %%
by_hand_s = (10 + 3) * 12e-6 + 4 * 10e-6
print(f"by hand {by_hand_s * 1e6:.0f} µs, simulated {alone.flows['fct_s'][0] * 1e6:.0f} µs")

# %% [markdown]
# `slowdown` is the completion time over the least possible one, and so it is 1 for a flow that is alone.
#
# ## A queue
#
# Now three hosts send 1 MB each to host 4 at the same time. The link from leaf 1 to host 4 can carry one of the three
# flows; the packets of the others wait in the queue of that port, and when it is full, packets are lost. *Probes* look
# at a port at regular times.

# %%
LAST_PORT = "leaf1>host4"
three = Scenario(
    fabric=FABRIC,
    traffic=(Listed(flows=tuple((host, 4, 1_000_000, 0.0) for host in range(3))),),
    probes=Probes(period_s=50e-6, ports=(LAST_PORT,)),
)
crowded = simulate(three, scheme="ecmp")
crowded.flows[["src", "fct_s", "slowdown", "packets_dropped", "retransmissions", "timeouts"]]

# %% mystnb={"image": {"alt": "queue over time: it fills up, is full at 50 packets, and empties after losses"}}
queue = crowded.samples("port.queue_packets")[LAST_PORT]
figure, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
axes.plot(queue.index * 1e3, queue, linewidth=0.8)
axes.axhline(FABRIC.buffer_packets + 1, color="grey", linestyle=":", label="buffer full, and one being sent")
axes.set(xlabel="time, ms", ylabel="packets at the port to host 4")
axes.legend(frameon=False)
plt.show()

# %% [markdown]
# TCP sends faster and faster until packets are lost, and halves its window then: the queue is full, drains and fills
# again. A lost packet is noticed when three later ones have arrived (three duplicate ACKs). If too few follow it, the
# sender waits for its *retransmission timer*, at least 200 ms here. That did not happen to these flows (`timeouts`).
# Notebook 5 computed how likely it is.
#
# ## Random flows
#
# Real traffic has many flows of different sizes. `Poisson` draws them: start times at random, sizes from a published
# distribution, here that of a web search, and so many that the links of the hosts are busy for half of the time
# (`load=0.5`). Flows of at most 100 KB are called *short*.
#
# A load needs a place. `load` is measured at the links of the hosts, unless `load_of="leaf-uplinks"` says otherwise.
# Here a leaf has as many uplinks as hosts, and `offered load` in the output says that all flows leave their leaf; with
# fewer spines the same load of the hosts can be more than the uplinks carry. It also says what these flows *offered*:
# sizes are drawn, a few large ones decide, and 400 flows miss the load that was asked for. `exact_load=True` scales the
# times of arrival so that they do not. With `start="steady"` the 400 flows come into a fabric where others are in
# progress already, as many as belong to this load, and more arrive until the last of the 400 is complete. Without it a
# run is a *cold start*: the fabric is empty at the beginning, and fills as slowly as its largest flow lasts.

# %%
random_flows = Scenario(
    fabric=FABRIC,
    traffic=(Poisson(workload="websearch", load=0.5, flows=400, start="steady", pairs="other-leaf"),),
)
result = simulate(random_flows, scheme="ecmp")
result

# %%
result.fct_by_size()

# %% [markdown]
# A table of all flows is in `result.flows`, whose column `counted` says which are the 400, one of all ports in
# `result.ports`; the documentation explains each column.
# The mean of the short flows is far above their median: a few of them waited for a timer.
#
# ## Two schemes, the same flows
#
# How a switch chooses among its four spines is the *scheme*. ECMP (equal-cost multipath) chooses for each flow by a
# hash; RPS (random packet spraying) chooses for each packet. `compare` simulates both with the same flows, and again
# with other random numbers (*seeds*), since one run is only one observation.

# %%
compared = compare(random_flows, schemes=["ecmp", "rps"], seeds=4)
table = compared.table(["mean_fct_short_s", "mean_fct_long_s", "reorder_ratio"])
table[["scheme", "metric", "mean", "half_width", "ratio", "ratio_low", "ratio_high"]]

# %% [markdown]
# `mean` ± `half_width` is a *95% confidence interval*: of many such intervals, each from other seeds, 95% contain the
# true mean. `ratio` compares seed by seed with the first scheme: both had the same flows, so what the flows contribute
# cancels. It is the geometric mean over the seeds, so that the ratio the other way round is one over it, and
# `ratio_low` to `ratio_high` is its interval, wide for short flows: a few timeouts more or fewer decide the mean. ECMP
# reorders no packet, and to 0 there is no ratio.
#
# `compared.remarks()` lists what is wrong with the load, if anything is:

# %%
for remark in compared.remarks():
    print(remark)
over = with_settings(random_flows, {"fabric.spines": 1, "traffic.exact_load": True, "traffic.start": "empty"})
print(*simulate(over, scheme="ecmp").remarks(), sep="\n")

# %% [markdown]
# With one spine in place of four the uplinks are asked for twice what they carry. The number of flows in progress then
# grows as long as flows arrive, and every completion time says how many flows were sent: there is no steady state to
# start in.
#
# ## A formula and packets
#
# Do simulated packets agree with a formula? The simplest example: ECMP puts a flow on each of the 4 paths with
# probability 1/4. The packet trace tells over which spine each flow went.

# %%
small = Poisson(flow_bytes=1460, flows=2800, load=0.2, pairs="other-leaf")
traced = simulate(Scenario(fabric=FABRIC, traffic=(small,), trace="packets"), scheme="ecmp")
uplinks = Trace.of(traced).at("leaf>spine", event="enqueued", packet="data")
first_packets = uplinks.drop_duplicates("flow")
over_spine0 = Count(successes=int(first_packets["port"].str.endswith("spine0").sum()), trials=len(first_packets))
verdict = agreement(0.25, over_spine0, detect=0.06)
print(verdict)

# %% [markdown]
# The following notebooks print such lines. Word by word:
#
# - **agrees**: the verdict. There are two others, below.
# - **model**, **measured**, **standard error**: the formula's value, the share of flows that went over spine 0, and how
#   far such a share is typically from the true one.
# - **declared bias**: an error that the formula is known to have; 0 if it should be exact.
# - **p** is the probability of a difference at least as large as this one if the formula is right.
#   Only if p is below the **level 1e-05**, one in a hundred thousand, does the verdict become *disagrees*. The level is
#   so low because there are hundreds of such comparisons, and false alarms should be rare among all of them together.
# - **an error of 0.06 is found with probability ...**: a comparison without enough samples never finds
#   anything. If the true probability were 0.31 or 0.19 instead of 0.25, this one would have ended in *disagrees* with
#   that probability. If p is not below the level and this probability is below 0.99, the verdict is *too few
#   samples*, and the line says how many would do.
#
# Both other verdicts, with a wrong formula, and with only 100 of the flows:

# %%
wrong = agreement(1 / 3, over_spine0, detect=0.06)
hundred = first_packets.head(100)
few = agreement(0.25, Count(successes=int(hundred["port"].str.endswith("spine0").sum()), trials=100), detect=0.06)
print(wrong)
print(few)

# %% [markdown]
# ## Exercises
#
# 1. Predict the completion time of one packet of 1460 bytes from host 0 to host 1, at the same leaf, then simulate it.
# 2. How large a buffer do the three flows of 1 MB need so that no packet is lost? Is the last flow then faster?
# 3. In `random_flows` use 1 spine in place of 4. Which table or number shows that the network is now too small?
# 4. By how much must the number of flows grow so that an error of 0.03 in place of 0.06 is found?
#
# The next cell, which is folded, has solutions.

# %% jupyter={"source_hidden": true, "outputs_hidden": true} tags=["hide-cell"]
# 1. Two links: 2 * 12 us to send it, 2 * 10 us of delay.
near = simulate(Scenario(fabric=FABRIC, traffic=(Listed(flows=((0, 1, 1460, 0.0),)),)), scheme="ecmp").flows
print(f"1. 44 µs by hand, {near['fct_s'][0] * 1e6:.0f} µs simulated")

# 2. Nothing is lost if all three flows fit into the buffer, 2055 packets; a bit less is enough, since some have left.
# The last flow is not faster: the link of host 4 needs 24.7 ms for 3 MB, whoever waits for it.
roomy = {
    packets: simulate(with_settings(three, {"fabric.buffer_packets": packets}), scheme="ecmp")
    for packets in (50, 200, 2000)
}
for packets, run in roomy.items():
    print(
        f"2. buffer {packets}: {run.summary.packets_dropped} dropped, last flow {run.flows['fct_s'].max() * 1e3:.1f} ms"
    )

# 3. One link now has to carry what four did, so it is busy for more of the time, and flows take longer.
narrow = with_settings(random_flows, {"fabric.spines": 1})
full = simulate(narrow, scheme="ecmp").ports.set_index("name")["utilisation"]
print(f"3. leaf0>spine0 is busy for {full['leaf0>spine0']:.0%} of the time, before for", end=" ")
print(f"{result.ports.set_index('name')['utilisation']['leaf0>spine0']:.0%}")

# 4. The standard error falls with the square root of the number of samples, so four times as many.
halved = agreement(0.25, over_spine0, detect=0.03)
quadrupled = Count(successes=4 * over_spine0.successes, trials=4 * over_spine0.trials)
print(f"4. {halved.verdict}; with four times as many: {agreement(0.25, quadrupled, detect=0.03).power:.4f}")

# %%
# The text of this notebook, asserted.
assert abs(alone.flows["fct_s"][0] - by_hand_s) < 1e-12
assert crowded.summary.timeouts == 0 < crowded.summary.packets_dropped
assert queue.max() == FABRIC.buffer_packets + 1
short = result.fct_by_size().iloc[0]
assert short["mean_fct_s"] > 10 * short["median_fct_s"]
assert result.summary.timeouts > 0
ratio = table[(table["scheme"] == "rps") & (table["metric"] == "mean_fct_short_s")].iloc[0]
assert ratio["ratio_high"] / ratio["ratio_low"] > 1.5
assert table["ratio"].isna().sum() == 2  # of reordered packets, under both schemes
assert result.loads["expected_load_inner"] == result.loads["expected_load_hosts"]
assert abs(result.loads["offered_over_asked"] - 1) > 0.01
crowded_uplinks = simulate(over, scheme="ecmp")
assert np.isclose(crowded_uplinks.loads["expected_load_inner"], 2)
assert np.isclose(crowded_uplinks.loads["offered_over_asked"], 1)
assert verdict, verdict
assert wrong.verdict == "disagrees"
assert few.verdict == "too few samples"
assert np.isclose(near["fct_s"][0], 44e-6)
assert roomy[2000].summary.packets_dropped == 0 < roomy[50].summary.packets_dropped < roomy[200].summary.packets_dropped
assert all(run.flows["fct_s"].max() > 3 * 8e6 / 1e9 for run in roomy.values())
assert full["leaf0>spine0"] > 1.25 * result.ports.set_index("name")["utilisation"]["leaf0>spine0"]
assert halved.verdict == "too few samples"
assert agreement(0.25, quadrupled, detect=0.03).power > 0.99
