# %% [markdown]
# # Who is ahead, and why?
#
# A dozen schemes of the papers get the same flows, and then six of what is built today. The question is *what stands in
# front of a flow, and which scheme takes that away*.
#
# **After this notebook** you can say which of hash, copy, spray, code, mark, trim and priority helps where, derive the
# loss from which a code pays, and say which assumption of a comparison its result hangs on. It reads runs of hours,
# kept in `data/results` of a clone, and runs in about 20 s on one core.
#
# - one path, or two: `ecmp` (a hash gives each flow a path), `repflow` (short flows twice, the first counts)
# - all paths: `rps` (each packet takes a random path), `caps` (short flows sprayed with repair packets), `cdcps` (all
#   flows sprayed and coded)
# - loads and subflows: `conga` (after a pause a flow takes the least loaded path), `mptcp` (eight subflows of one
#   coupled window), `mmptcp` (sprayed at first, later `mptcp`), `dc2mtcp` (subflows that share a few codes)
# - short queues: `dctcp` (one path, long queues mark packets, which shrink windows), `dctcp_rps` (the same, sprayed),
#   `rps_pq` (sprayed, short flows go first)
#
# ## Assumptions of a comparison
#
# The first panel has all of them.
#
# 1. Hosts send first in, first out, as in ns-2 and ns-3.
# 2. All links are alike.
# 3. The fabric is a leaf-spine, whose hosts' links are the narrowest.
# 4. The fabric is at its load: a run begins with the flows in progress that its scheme keeps.
# 5. Links lose no packet; only full ports do.
#
# ## A dozen schemes of the papers
#
# Web search at load 0.6, 1 Gbps, timers of 200 ms; times of short flows over those of ECMP on the same flows. A full
# mark is the mean without flows that have a timeout, a ring the mean of all.

# %% mystnb={"image": {"alt": "twelve schemes in four cases: priority first by far, then marks; paths near ECMP"}}
import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.ticker import LogLocator

import capsmodel as cm
from capsim import load_scenario, simulate, with_settings
from capsim.results.load_record import settled_before
from capsmodel.coding.messages import mean_message_s
from capsmodel.datafiles import data_path
from capsmodel.experiments.statistics.intervals import paired_ratio
from capsmodel.symbolic import DERIVATIONS

GROUPS = {
    "one path, or two": ("ecmp", "repflow"),
    "all paths": ("rps", "caps", "cdcps"),
    "loads and subflows": ("conga", "mptcp", "mmptcp", "dc2mtcp"),
    "short queues": ("dctcp", "dctcp_rps", "rps_pq"),
}
COLOR = {name: f"C{number}" for number, names in enumerate(GROUPS.values()) for name in names}
PLACE = {name: -place for place, name in enumerate(COLOR)}
steady = pd.read_csv(data_path("results/steady_websearch.csv"))
every = pd.read_csv(data_path("results/all_schemes.csv")).query("`traffic.load` == 0.6")


def fill(preset):
    """Return the share of the flows of its load that a cold start of 1000 flows finds."""
    cold = with_settings(load_scenario(preset), {"traffic.start": "empty", "traffic.flows": 1000, "warm_up_s": "100ms"})
    return settled_before(cold.traffic, cold.fabric.build(), warm_up_s=cold.warm_up_s)


LEAF, TREE = "all-leaf-spine-websearch", "all-fat-tree-websearch"
CASES = {case: (rows, "steady start") for case, rows in steady.groupby("case", sort=False)} | {
    case: (every[every["scenario"] == scenario], f"cold start, {100 * fill(preset):.0f}% full")
    for case, scenario, preset in (
        ("one link with a tenth of its rate", f"{LEAF}-slow", LEAF),
        ("fat-tree", TREE, TREE),
    )
}
METRICS = {"mean_fct_short_without_timeouts_s": "full", "mean_fct_short_s": "none"}
over_ecmp = {}
figure, panels = plt.subplots(2, 2, figsize=(9, 8), layout="constrained", sharey=True, sharex=True)
for axes, (case, (rows, start)) in zip(panels.flat, CASES.items(), strict=True):
    for metric, style in METRICS.items():
        times = rows.pivot_table(index="seed", columns="scheme", values=metric)
        for name, color in COLOR.items():
            found = paired_ratio(times[name], times["ecmp"]) if name != "ecmp" else None
            over_ecmp[case, name, style] = found.value if found else 1.0
            ends = [[found.value - found.low], [found.high - found.value]] if found and len(times) > 2 else None
            place = PLACE[name] + (0.15 if style == "full" else -0.15)
            axes.errorbar(
                over_ecmp[case, name, style], place, xerr=ends, fmt="o", color=color, fillstyle=style, markersize=5
            )
    axes.axvline(1, color="0.6", linewidth=1)
    axes.set(xscale="log", xlim=(0.005, 4), title=f"{case},\n{start}")
    axes.title.set_fontsize(10)
    axes.xaxis.set_major_locator(LogLocator())
    axes.xaxis.set_major_formatter("{x:g}")
    axes.grid(color="0.92")
panels[0, 0].set_yticks([*PLACE.values()], [*PLACE])
heads = [plt.Line2D([], [], marker="o", linestyle="", color=f"C{number}") for number in range(len(GROUPS))]
figure.legend(heads, GROUPS, loc="outside upper center", ncols=4, frameon=False)
figure.supxlabel("time of short flows over that of ECMP; full: without a timeout, ring: all", fontsize=10)
plt.show()

# %% [markdown]
# *First panel.* The rings are mostly timeouts: 9% of ECMP's short flows have one, of 200 ms or more, while the others
# take 6 ms. The first three groups change the *path*. Spraying saves a quarter of the time without timeouts, CAPS and
# subflows a third: a host has one link, which no choice of paths avoids. The last group changes the *queue*. Marks keep
# it short, and priority lets short flows pass it: 0.44 and 0.08 of ECMP's time. A copy waits in the same queues of its
# hosts. The windows of subflows are too small for three duplicate ACKs, and more flows have a timeout.
#
# *Assumption 1 fails.* If hosts send round robin over their connections, short flows do not wait behind the windows of
# their own host: all but priority take 0.5 to 0.9 of the time they took, ECMP too, so that ratios hardly change.
#
# *Assumption 2 fails.* A link with a tenth of its rate gets as many sprayed packets as the others, 4.6 times what it
# can send, so that there is no steady state, and sprayed DCTCP is behind DCTCP on one path. What measures, CONGA and
# MPTCP, takes 0.6 of ECMP's time.
#
# *Assumptions 3 and 4 fail.* On the fat-tree links inside the fabric overflow under ECMP, and spraying takes these
# timeouts away: 0.6% of flows in place of 7.7%, a tenth of the mean. A cold start has less than its load: on the
# leaf-spine two of them give 0.89 for spraying and 0.72 for DCTCP, where the first panel has 0.73 and 0.44.
#
# Long flows need not pay: under DCTCP they get 2.7 times ECMP's throughput. CDCPS, which codes all flows, has no steady
# state at this load; its marks are too good.
#
# ## Six schemes of today in six cases
#
# At 100 Gbps on a fat-tree of 128 hosts. All are compared with `spray+mark`: packets over all paths, DCTCP's windows,
# losses found by time (RACK). The six: the same over *one path*; the same with a *first window* of a round trip;
# *trim*, where a full port cuts a packet to its header, which reports the loss at once; *pull*, NDP, whose receivers
# ask for each packet; *UEC*, modelled on Ultra Ethernet, trimmed, with windows by delay, on paths that were free; a
# *code*, eight repair packets behind 32.

# %% mystnb={"image": {"alt": "six schemes in six cases, over sprayed packets with marks, with 95% intervals"}}
beyond = pd.read_parquet(data_path("results/beyond.3.parquet"))
beyond["time"] = beyond["mean_collective_s"].fillna(beyond["mean_slowdown"])
TODAY = {
    "one path": "mark: one path",
    "first window": "mark: spray, first window of a round trip",
    "trim": "trim",
    "pull": "trim, receivers pull",
    "UEC": "trim, mark, learn paths",
    "code": "code: blocks of 32",
}
SIX = {
    "permutation, 2 MB": "permutation",
    "one slow link": "permutation, one slow link",
    "incast, 127 x 64 KB": "127 send 64 KB to one",
    "ring all-reduce": "ring all-reduce",
    "web search, load 0.6": "web search, load 0.6, steady start",
    "loss 1e-3": "permutation, loss 1e-3",
}


def over_reference(case, scheme, reference="mark: spray"):
    """Return the time over that of the reference with the same flows, with its 95% interval over seeds."""
    times = beyond[beyond["case"] == case].pivot(index="seed", columns="scheme", values="time")
    return paired_ratio(times[scheme], times[reference])


today = {(case, label): over_reference(case, scheme) for case in SIX for label, scheme in TODAY.items()}
figure, panels = plt.subplots(2, 3, figsize=(10, 5.4), layout="constrained", sharex=True, sharey=True)
for axes, (case, title) in zip(panels.flat, SIX.items(), strict=True):
    for place, label in enumerate(TODAY):
        found = today[case, label]
        ends = [[found.value - found.low], [found.high - found.value]]
        axes.errorbar(found.value, -place, xerr=ends, fmt="o", color=f"C{place}", markersize=5)
    axes.axvline(1, color="0.6", linewidth=1)
    axes.set_title(title, fontsize=10)
    axes.set(xscale="log", xlim=(0.25, 3.3))
    axes.set_xticks([0.3, 0.5, 1, 2, 3], ["0.3", "0.5", "1", "2", "3"])
    axes.minorticks_off()
    axes.grid(color="0.92")
panels[0, 0].set_yticks([-place for place in range(len(TODAY))], [*TODAY])
figure.supxlabel("time over that of sprayed packets with marks", fontsize=10)
plt.show()

# %% [markdown]
# *What no queue explains.* In a ring all-reduce each host sends 31 packets and waits for its neighbour: a scheme that
# may send them at once takes half the time. With 127 senders to one the same first window costs half as much again.
#
# *What trimming gains.* Alone 12% in a permutation; with pulls and learned paths it takes 0.7 and 0.6 of the time.
# Beside a slow link those two take 0.4 and 0.3: one pulls again what was trimmed there, the other leaves the link.
#
# *Where trimming does not help.* A link that corrupts a packet leaves no header. NDP waits for its timer of 1 ms and
# takes 2.6 times as long; UEC has a timer of 0.1 ms, does not slow down, and takes half.
#
# *What a code gains.* In a permutation the fabric has room for repair packets, and what is late is decoded from the
# rest: 0.8. In web search they are 25% more load, in front of everyone: 1.6, and more in its steady state (its runs
# began with 69% of those flows). With losses of $10^{-3}$ it takes 0.7.
#
# ## From which loss on a code pays
#
# Assumption 5 fails with links that corrupt packets. A message of $X$ packets is sent alone. A lost packet is
# retransmitted after $T$, longer than the message; or $r$ repair packets follow each $k$:

# %%
DERIVATIONS["coding_pays"]()

# %% [markdown]
# In the picture $T$ is a round trip, or a timer of 0.1 ms, and the message takes 0.16 ms: early losses cost nothing, so
# that $p^*$ is larger. Marks are the permutation of 2 MB, whose senders also slow down for a loss.

# %% mystnb={"image": {"alt": "code over repetition by loss: the formula is above 1 where packets are below"}}
SENT = {"packets": 490, "packet_s": 4150 * 8 / 100e9}
losses = np.geomspace(3e-6, 2e-2, 60)
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for repeat_s, text, color in ((14e-6, "a round trip, 14 µs", "C0"), (1e-4, "a timer, 0.1 ms", "C1")):
    means = [mean_message_s(loss_prob=losses, repeat_s=repeat_s, **SENT, **code) for code in ({}, {"k": 32, "r": 8})]
    axes.plot(losses, means[1] / means[0], color=color, label=f"formula, repeated after {text}")
LOSSY = {1e-5: "loss 1e-5", 1e-4: "loss 1e-4", 1e-3: "loss 1e-3", 1e-2: "loss 1e-2"}
by_loss = {}
for reference, text, color in (("mark: spray", "spray+mark", "C0"), (TODAY["UEC"], "UEC", "C1")):
    by_loss[text] = [over_reference(case, TODAY["code"], reference) for case in LOSSY.values()]
    values = np.array([one.value for one in by_loss[text]])
    ends = [values - [one.low for one in by_loss[text]], [one.high for one in by_loss[text]] - values]
    axes.errorbar([*LOSSY], values, ends, fmt="o", capsize=3, color=color, label=f"packets, over {text}")
axes.axhline(1, color="0.6", linewidth=1)
axes.set(
    xscale="log", yscale="log", xlabel="loss probability of a link", ylabel="time with a code of 32 + 8, over without"
)
axes.set_yticks([0.5, 1, 2, 5], ["0.5", "1", "2", "5"])
axes.minorticks_off()
axes.legend(frameon=False)
plt.show()
for repeat_s in (14e-6, 1e-4, 1e-3, 1e-2):
    exact = cm.coding_pays_from(repeat_s=repeat_s, k=32, r=8, **SENT)
    print(f"T = {1e3 * repeat_s:g} ms: p* = {exact:.2g}, r tau/(k T) = {8 / 32 * SENT['packet_s'] / repeat_s:.2g}")

# %% [markdown]
# Over UEC, which does not slow down, packets lie near the formula up to $10^{-3}$: within a fabric this code never
# pays. Over `spray+mark` they lie far below it, also where hardly anything is lost: RACK takes late packets for lost
# and halves windows, which a code hides. At $10^{-2}$ units fail, each failure halves the window of the coded sender,
# and UEC is six times as fast.
#
# With distant sites, $T$ of 10 ms, this code pays from one packet in $10^5$ on. But a first window of a round trip is
# worth more there ([the findings](../docs/findings.md)).
#
# So ask what stands in front of the flow: its own host, a queue, a timer, or its own window? A scheme that takes
# something else away gains nothing.
#
# ## Exercises
#
# 1. *By hand.* From which loss does a code of 32 + 2 pay if $T$ is 10 ms?
# 2. *With packets.* Give the switches of ECMP priorities (`ecmp_pq`), with and without evicting a packet of a long flow
#    from a full port (`queue.push_out`). Which of the two does the work?
# 3. *Open.* Does a copy help senders that have marks? Find a scheme and a case in the kept rows, and say what the
#    interval allows you to claim.

# %% jupyter={"source_hidden": true, "outputs_hidden": true} tags=["hide-cell"]
# 1. r tau / (k T).
print(f"1. {2 / 32 * SENT['packet_s'] / 10e-3:.1g}; exact {cm.coding_pays_from(repeat_s=10e-3, k=32, r=2, **SENT):.1g}")

# 2. Evicting does: with tail drop short flows lose as many packets as without priority, and wait for timers.
cold = with_settings(load_scenario(LEAF), {"traffic.start": "empty", "traffic.flows": 300, "warm_up_s": "50ms"})
for text, scheme, settings in (
    ("no priority", "ecmp", {}),
    ("priority", "ecmp_pq", {}),
    ("priority, tail drop", "ecmp_pq", {"queue.push_out": False}),
):
    summary = simulate(with_settings(cold, settings), scheme=scheme).summary
    print(f"2. {text}: {1e3 * summary.mean_fct_short_s:.1f} ms, with a timeout {summary.timeout_ratio_short:.1%}")

# 3. On top of DCTCP, over three seeds: the interval holds 1 with either NIC.
for case, rows in steady.groupby("case", sort=False):
    times = rows.pivot_table(index="seed", columns="scheme", values="mean_fct_short_s")
    print(f"3. {case}: a copy over DCTCP alone {paired_ratio(times['repflow_dctcp'], times['dctcp'])}")

# %% jupyter={"source_hidden": true, "outputs_hidden": true} tags=["hide-cell"]
# The text of this notebook, asserted.
slow = "one link with a tenth of its rate"
assert over_ecmp[slow, "dctcp", "full"] < 1 < over_ecmp[slow, "dctcp_rps", "full"]
assert over_ecmp["fat-tree", "rps", "none"] < 0.11
assert all(abs(today["ring all-reduce", name].value - 0.5) < 0.01 for name in ("first window", "pull", "UEC"))
assert [round(today["loss 1e-3", name].value, 1) for name in ("pull", "UEC", "code")] == [2.6, 0.5, 0.7]
assert [round(today[case, "code"].value, 1) for case in ("permutation, 2 MB", "web search, load 0.6")] == [0.8, 1.6]
assert all(1.2 < found.value < 1.4 for found in by_loss["UEC"][:3])
assert all(found.high < 1 for found in by_loss["spray+mark"][:3])
