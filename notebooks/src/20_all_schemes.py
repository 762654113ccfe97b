# %% [markdown]
# # All schemes on one fabric
#
# Each of the five papers compares its own scheme with a few others, on its own fabric, in its own simulator. Here all
# schemes run on the same flows: web search and data mining, a leaf-spine (32 hosts, 8 spines) and a fat-tree (54 hosts,
# 9 cores), loads from 0.2 to 0.8, each once with equal links and once with one slow link. Within a seed all schemes
# have the same arrivals, sizes and endpoints, so every comparison is of pairs.
#
# The schemes have the defaults of their papers; where a paper is silent, those of RFCs and of Linux: minimum
# retransmission timeout 200 ms, a handshake whose lost SYN waits 1 s. Links have 1 Gbit/s, ports 256 packets, hosts
# too. The rows of the runs are in `data/results`; `capsmodel sweep data/studies/all_schemes.toml` makes them again.
#
# **After this notebook** you can say which kind of scheme helps short flows, what it costs long ones, and which
# results of a comparison hang on one slow link. It runs in about 20 s on two cores.

# %%
import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

from capsim import load_scenario, simulate, with_settings
from capsmodel.datafiles import data_path

runs = pd.read_csv(data_path("results/all_schemes.csv")).rename(columns={"traffic.load": "load"})
runs["slow"] = runs["scenario"].str.endswith("-slow")
runs["case"] = runs["scenario"].str.removeprefix("all-").str.removesuffix("-slow")
CASES, LOADS = list(dict.fromkeys(runs["case"])), sorted(runs["load"].unique())
print(f"{len(runs)} runs of {runs['scheme'].nunique()} schemes, {runs['cpu_s'].sum() / 3600:.1f} CPU hours")


SETTING = ["case", "slow", "load"]


def by_seed(metric):
    """Return a metric in each setting and seed; schemes side by side."""
    return runs.pivot_table(index=[*SETTING, "seed"], columns="scheme", values=metric)


def over_ecmp(metric):
    """Return a metric over that of ECMP with the same flows, in each setting and seed."""
    table = by_seed(metric)
    return table.div(table["ecmp"], axis=0)


def over_seeds(ratios):
    """Return the geometric mean of ratios over the seeds."""
    return np.exp(np.log(ratios).groupby(SETTING).mean())


def draw(table, load, label, *, large_is_good=False, scale="log"):
    """Draw a table at one load, a panel for each case and a dot for each seed, the best scheme at the top."""
    mean = table.xs(load, level="load").mean()
    order = mean.sort_values(ascending=large_is_good).index  # the last is drawn at the top
    figure, axes = plt.subplots(1, len(CASES), figsize=(10, 8.5), layout="constrained", sharex=True, sharey=True)
    for panel, case in zip(axes, CASES, strict=True):
        for slow, style in ((True, {"facecolors": "none", "edgecolors": "C3"}), (False, {"color": "C0"})):
            for _, values in table.loc[case, slow, load][order].iterrows():
                panel.scatter(values, range(len(order)), s=18, **style)
        if scale == "log":
            panel.axvline(1, color="0.6", linewidth=1)
        fabric, _, workload = case.rpartition("-")
        panel.set(xscale=scale, title=f"{fabric},\n{workload}")
        panel.set_yticks(range(len(order)), order, fontsize=8)
        panel.grid(axis="y", color="0.9")
    figure.supxlabel(label)


# %% [markdown]
# ## 1. Short flows that wait in queues
#
# Completion times of short flows (at most 100 KB) come in two kinds: flows that wait in queues, and flows that lose a
# packet and wait for a timer, 200 ms or more. One mean over both says mostly how many timers ran, so the two are
# drawn apart. A dot is the mean of the first kind in one seed over that of ECMP (equal-cost multipath: one path for
# each flow), at load 0.6. Left of the line is better than ECMP. Full dots: all links equal; rings: one link between two
# switches has a tenth of the rate.

# %% mystnb={"image": {"alt": "mean without timeouts: priorities first, then DCTCP, then all others around ECMP"}}
waiting_of_seeds = over_ecmp("mean_fct_short_without_timeouts_s")
waiting = over_seeds(waiting_of_seeds)
draw(waiting_of_seeds, 0.6, "mean completion time of short flows without a timeout, over ECMP's")

# %% [markdown]
# ## 2. Short flows that wait for a timer

# %% mystnb={"image": {"alt": "short flows with a timeout: none with DCTCP and priorities, most with one path"}}
timed_out_of_seeds = 100 * by_seed("timeout_ratio_short")
timed_out = timed_out_of_seeds.groupby(SETTING).mean()
draw(timed_out_of_seeds, 0.6, "short flows with a timeout, %", scale="linear")

# %% [markdown]
# ## 3. Long flows

# %% mystnb={"image": {"alt": "throughput of long flows: pFabric first, then DCTCP; CDCPS and one path last"}}
long_of_seeds = over_ecmp("mean_throughput_long_bps")
long = over_seeds(long_of_seeds)
draw(long_of_seeds, 0.6, "mean throughput of flows above 100 KB, over ECMP's", large_is_good=True)

# %% [markdown]
# ## 4. Who is ahead where, and why
#
# * **What stands in front of a short flow matters most, not its path.** Priorities (`ecmp_pq`, `rps_pq`, `pfabric`)
#   leave a fifth to two fifths of ECMP's time, short queues (`dctcp`) about half. No way to choose paths comes near,
#   since most of a short flow's wait is at the last link, which has no other path.
# * **Spraying and coding save timers.** With packets over all paths (`rps`, `ag`, `caps`) no link between switches
#   overflows for long, and on the fat-tree the share of short flows with a timeout falls from 8% to 1%. What remains on
#   the leaf-spine are losses at the last link.
# * **One slow link turns the order.** Plain spraying sends that link as many packets as the others and waits for them:
#   `dctcp_rps` is then behind `dctcp`, and `rps` behind ECMP. What looks at queues or at round trips (`conga`, `drill`,
#   `mptcp`) is hurt less than ECMP itself.
# * **Eight windows are small windows.** The flows of web search are too short for MPTCP: its subflows have too few
#   packets in flight for three duplicate ACKs and wait for timers, and long flows get less than with ECMP.
# * **Coding everything costs everything.** `cdcps` codes long flows too, and its estimate of the blocking probability
#   takes every round trip above the average for a blocked one; repair packets take half of the throughput.
#
# These are runs of two seeds with 300 to 1000 flows: read factors, not per cent. A flow that has not ended
# counts in no mean; all of these are flows of `mptcp_ns3` and `mmptcp_ns3`, the habits of the authors' code of MMPTCP:
# its scheduler waits for a subflow whose only SYN was lost. Each scheme has the defaults of its paper: pFabric's window
# of 12 packets fits the leaf-spine, and on the fat-tree, where a round trip takes 19 packets' time, a flow alone gets
# 0.64 Gbit/s.

# %%
print(waiting.xs(0.6, level="load").T.loc[["ecmp_pq", "pfabric", "dctcp", "caps", "rps", "mptcp"]].round(2).to_string())

# %% [markdown]
# ## 5. Over load

# %% mystnb={"image": {"alt": "over load from 0.2 to 0.8: DCTCP and priorities stay below ECMP; CAPS and RPS gain"}}
SHOWN = ("rps_pq", "dctcp", "caps", "rps", "repflow", "mptcp")
figure, axes = plt.subplots(1, len(CASES), figsize=(10, 3.4), layout="constrained", sharey=True)
for panel, case in zip(axes, CASES, strict=True):
    for name in SHOWN:
        panel.plot(LOADS, waiting.loc[case, False][name], "o-", markersize=3, label=name)
    fabric, _, workload = case.rpartition("-")
    panel.set(title=f"{fabric},\n{workload}", xlabel="load", yscale="log")
    panel.axhline(1, color="0.6", linewidth=1)
axes[0].set_ylabel("over ECMP")
axes[0].set_yticks([0.2, 0.5, 1], ["0.2", "0.5", "1"])
axes[0].minorticks_off()
axes[-1].legend(frameon=False, fontsize=8)

# %% [markdown]
# ## Exercises
#
# 1. Which scheme loses most by the slow link on the leaf-spine with web search, at load 0.6?
# 2. At which load does spraying (`rps`) save most timeouts of ECMP on the fat-tree with web search?
# 3. Is DCTCP ahead because ECMP's timers are long? Run both with a minimum retransmission timeout of 10 ms.
#
# The next cell, which is folded, has solutions.

# %% jupyter={"source_hidden": true, "outputs_hidden": true} tags=["hide-cell"]
# 1. The largest ratio of the two columns, in flows that wait in queues.
both = waiting.xs(0.6, level="load").loc["leaf-spine-websearch"]
most = (both.loc[True] / both.loc[False]).idxmax()
equal_links, slow_link = both.loc[False, most], both.loc[True, most]
print(f"1. {most}: {equal_links:.2f} of ECMP's time with equal links, {slow_link:.2f} with a slow one")

# 2. The difference of the shares.
tree = timed_out.loc["fat-tree-websearch", False]
saved = tree["ecmp"] - tree["rps"]
print("2.", {load: f"{value:.1f}%" for load, value in saved.items()})

# 3. What a mean without timeouts leaves out is small now; DCTCP's queue is shorter all the same.
base = load_scenario("all-leaf-spine-websearch")
quick = with_settings(base, {"traffic.load": 0.6, "transport.min_rto_s": 0.01})
means = {name: simulate(quick, scheme=name).summary.mean_fct_short_s for name in ("ecmp", "dctcp")}
print("3.", {name: f"{1e3 * value:.1f} ms" for name, value in means.items()})

# %%
# The text of this notebook, asserted.
WEB = [case for case in CASES if case.endswith("websearch")]
at60 = waiting.xs(0.6, level="load")
timers = timed_out.xs(0.6, level="load")
equal = at60.xs(False, level="slow")
assert (at60[["ecmp_pq", "rps_pq", "pfabric"]] < 0.42).all(axis=None)
assert (equal["dctcp"] < 0.6).all()
paths = [
    "rps",
    "ag",
    "caps",
    "caps_dark",
    "conga",
    "drill",
    "letflow",
    "presto",
    "repflow",
    "repsyn",
    "freeway",
    "mptcp",
]
assert (equal.loc[WEB, paths].min(axis=1) > equal.loc[WEB, "dctcp"]).all()
assert timers.loc[("fat-tree-websearch", False), "ecmp"] > 6
assert timers.loc[("fat-tree-websearch", False), ["rps", "ag", "caps"]].max() < 1.5
assert timers.loc[("leaf-spine-websearch", False), ["rps", "ag", "caps"]].min() > 2
slow, same = at60.xs(True, level="slow").loc[WEB], at60.xs(False, level="slow").loc[WEB]
assert (same["dctcp_rps"] < same["dctcp"]).all()
assert (slow["dctcp_rps"] > slow["dctcp"]).all()
assert (same["rps"] < 1).all()
assert (slow["rps"] > 1).all()
assert (slow[["conga", "drill", "mptcp"]] < 1).all(axis=None)
assert (timers.xs(False, level="slow").loc[WEB, "mptcp"] > 7).all()
assert (long.xs(0.6, level="load").xs(False, level="slow").loc[WEB, "mptcp"] < 1).all()
assert long.xs(0.6, level="load")["cdcps"].max() < 0.7
assert means["dctcp"] < means["ecmp"] / 2
