# %% [markdown]
# # Queues and replication, in packets
#
# A short flow behind a long one waits. RepFlow (replicated flows) sends every short flow twice, over two paths, and
# uses the copy that finishes first. How much does that save? Its model is one queue: long flows send bursts of $M$ = 44
# packets, bursts come as a Poisson process and fill a share $\rho$ of the link (the load), and a short flow of $X$
# packets, small enough to be sent at once, waits until the queue in front of it is sent. In packet times the mean wait
# is
#
# $$E[W]=\frac{\rho M}{2(1-\rho)}\quad\text{(Eq. 4)},\qquad E[FCT]=1+\frac{E[W]}{X}\quad\text{(Eq. 5)},$$
#
# where FCT is the flow completion time over that without waiting. Two copies wait only where both queues are busy, so
# RepFlow replaces $\rho$ by $\rho^2$ (Eq. 6), or $(1+\epsilon)^2\rho^2$ if short flows are a share $\epsilon$ of the
# traffic, which the copies double. Here this is simulated in three settings: the model's own queues, then packets on
# parallel paths and on a fat-tree, then flows of all sizes.
#
# **After this notebook** you can say where the formulas for replication are exact, too high and too low, and why a
# second copy saves hardly anything on a fat-tree. It runs in about 40 s on two cores.

# %%
import sys

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

import capsmodel as cm
from capsim import FatTree, Poisson, Scenario, simulate
from capsmodel.experiments.agreement import agreement
from capsmodel.experiments.statistics.intervals import mean_interval
from capsmodel.experiments.sweep import Task, gather
from capsmodel.fct.replication import mean_shortest_wait
from capsmodel.papers.measurements.means import mean_in_row
from capsmodel.queueing.mg1 import mg1_mean_wait, mg1_wait_prob
from capsmodel.workloads.catalogue import load_workload

sys.path.append("../tests")  # where measurements stand that tests compare with formulas
from agreement.measured.burst_queue import burst_queue
from agreement.measured.replicated_bursts import (
    MSS_BYTES,
    ONE_ROUND,
    PATHS,
    SHORT_BYTE_SHARE,
    burst_flows,
    run_bursts,
    web_search_flows,
)

M, X = 44, 12
BURST = cm.Deterministic(M)
loads = np.arange(1, 9) / 10
curve = np.linspace(0.02, 0.85, 84)

# %% [markdown]
# ## 1. One queue, and two
#
# Bursts at a queue, without any network: a burst waits until all earlier bursts are sent (Lindley's recursion). A flow
# with two copies has two such independent queues and the shorter of the two waits.

# %% mystnb={"image": {"alt": "mean: dots on Eq. 5, below Eq. 6; tail: more flows than 1% beyond the printed one"}}
queue = gather(
    [
        Task(burst_queue, load=float(load), bursts=bursts, seed=1)
        for load in loads
        for bursts in [round(max(400_000, 100_000 / (1 - load) ** 2))]
    ]
)
pair = {"replicas": 2, "short_byte_share": 0.0}
shorter = 1 + mean_shortest_wait(curve, service=BURST) / X
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
left.plot(curve, cm.mean_fct(curve, sizes=ONE_ROUND), label="one copy, Eq. 5")
left.plot(curve, cm.mean_fct(curve, sizes=ONE_ROUND, **pair), "--", color="C1", label="two copies, Eq. 6")
left.plot(curve, shorter, color="C1", label="two copies, exact")
for column, color in (("slowdown", "C0"), ("shorter_slowdown", "C1")):
    left.errorbar(loads, queue[column], yerr=2 * queue[f"error_{column}"], fmt="o", markersize=4, color=color)
left.set(xlabel="load", ylabel="mean completion time over the least", yscale="log", title="mean completion time")
left.legend(frameon=False)


def beyond_printed(load, copies):
    """Return the exact share of flows that take longer than the 99th percentile of Eq. 11 (one copy) or 12 (two)."""
    printed = cm.tail_fct(load, sizes=ONE_ROUND, replicas=copies, short_byte_share=0.0)
    return mg1_wait_prob((printed - 1) * X, load=load, service=BURST) ** copies


for copies, prefix, color, label in ((1, "", "C0", "one copy, Eq. 11"), (2, "shorter_", "C1", "two copies, Eq. 12")):
    right.plot(curve, 100 * beyond_printed(curve, copies), color=color, label=label)
    share, error = (100 * queue[f"{start}{prefix}beyond_printed_prob"] for start in ("", "error_"))
    right.errorbar(loads, share, yerr=2 * error, fmt="o", markersize=4, color=color)
right.axhline(1, color="k", linestyle=":", label="1%, as a 99th percentile should have")
right.set(
    xlabel="load",
    ylabel="flows beyond the printed value, %",
    ylim=(0, None),
    title="share of flows beyond the printed 99th percentile",
)
right.legend(frameon=False)
plt.show()
half = queue[np.isclose(queue["load"], 0.5)].iloc[0]
model = cm.mean_fct(0.5, sizes=ONE_ROUND)
verdict = agreement(model, mean_in_row(half, "slowdown"), detect=0.05 * model)
print(verdict)

# %% [markdown]
# Lines are formulas, dots are simulated queues with two standard errors. Notebook 7 explains the printed line.
#
# - **Eq. 5 holds.** It is Pollaczek and Khinchine's formula, in the setting for which it was derived.
# - **Eq. 6 is pessimistic.** Both queues are busy with probability $\rho^2$, as it says. But a flow that finds both
#   busy waits for the shorter of two bursts in progress, while in the virtual queue it waits for one. The exact mean
#   is $\rho^2(4-\rho)M/(12(1-\rho))$; the printed wait is $6/(6-(1-\rho)(2-\rho))$ times as long, a factor that is
#   largest at low load.
# - **Eq. 11 and 12 are optimistic**, except for two copies at the lowest load. They assume an exponential wait with the
#   right mean. At low load, however, most flows do not wait at all, and the others wait for the rest of a burst.

# %%
virtual = mg1_mean_wait(loads**2, mean_service=M, second_moment_service=M**2)
exact = mean_shortest_wait(loads, service=BURST)
one_queue = pd.DataFrame(
    {
        "load": loads,
        "wait of Eq. 6 / exact": virtual / exact,
        "wait of Eq. 6 / simulated": virtual / queue["shorter_wait_packets"],
        "beyond Eq. 11, %": 100 * queue["beyond_printed_prob"],
        "beyond Eq. 12, %": 100 * queue["shorter_beyond_printed_prob"],
    }
).set_index("load")
one_queue.round(2)

# %% [markdown]
# ## 2. Packets: parallel paths, then a fat-tree
#
# Now TCP flows in the packet simulator. Short flows of 12 packets are a share $\epsilon$ = 5% of the traffic, all
# others are bursts of 44; windows hold a whole flow and buffers never overflow, so flows are delayed only by queueing,
# as in the model.
#
# - *Parallel paths*: sixteen links between two switches, hosts a thousand times faster. A hash picks the path.
# - *Fat-tree*: four pods, all links of the same rate. Between pods a flow crosses six links, the first and the last
#   those of its hosts, which both copies share.
# - *Fat-tree, fast hosts*: the same with hosts a thousand times faster, to show the effect of the shared links.
#
# `run_bursts` builds the scenario and simulates it. Here is a small one, with its fabric and flows. Any part can be
# changed, as in `simulate(with_settings(example.scenario, {"fabric.paths": 2}), scheme="repflow")`.

# %%
example = run_bursts(0.5, fabric="parallel-paths", scheme="repflow", short_flows=50, seed=1)
print(example.scenario.to_toml())
example.flows[["src", "dst", "flow_bytes", "start_s", "short", "subflows", "fct_s"]].head(8)

# %% [markdown]
# Short flows have two subflows, the two copies. Now many more of them, for each fabric, with one copy and with two:

# %%
FABRICS = ("parallel-paths", "fat-tree-fast-hosts", "fat-tree")
some, seeds = (0.1, 0.3, 0.5, 0.8), range(4)
packets = gather(
    [
        Task(burst_flows, load=load, fabric=fabric, scheme=scheme, short_flows=1000, seed=seed)
        for fabric in FABRICS
        for scheme in ("ecmp", "repflow")
        for load in some
        for seed in seeds
    ]
)
queues = gather(
    [
        Task(
            burst_queue, load=round(load * copies, 6), bursts=400_000, seed=seed
        )  # copies raise the load of each queue
        for copies in (1, 1 + SHORT_BYTE_SHARE)
        for load in some
        for seed in seeds
    ]
)


def saved(once, twice):
    """Return by how much two copies are faster, in percent, over the seeds, which give both the same flows."""
    return mean_interval(100 * (1 - np.asarray(twice) / np.asarray(once)))


def of(fabric, scheme, load):
    found = packets[(packets["fabric"] == fabric) & (packets["scheme"] == scheme)]
    return found[np.isclose(found["load"], load)]


once, twice = queues["slowdown"].to_numpy(), queues["shorter_slowdown"].to_numpy()
once, twice = once.reshape(2, len(some), -1)[0], twice.reshape(2, len(some), -1)[1]
savings = {"queue pair": [saved(one, two) for one, two in zip(once, twice, strict=True)]}
for fabric in FABRICS:
    savings[fabric] = [
        saved(of(fabric, "ecmp", load)["slowdown"], of(fabric, "repflow", load)["slowdown"]) for load in some
    ]


def model_saving(load):
    flow = {"sizes": ONE_ROUND, "short_byte_share": SHORT_BYTE_SHARE}
    return 100 * (1 - cm.mean_fct(load, replicas=2, **flow) / cm.mean_fct(load, **flow))


table = pd.DataFrame({"Eq. 5 and 6": [f"{model_saving(load):.1f}" for load in some]}, index=pd.Index(some, name="load"))
for setting, found in savings.items():
    table[setting] = [f"{one.value:.1f} ± {(one.high - one.low) / 2:.1f}" for one in found]
print("mean completion time of short flows saved by a second copy, %, with 95% intervals over seeds")
table

# %% mystnb={"image": {"alt": "saving over load: up to 43% on queues and parallel paths, near 0 on a fat-tree"}}
figure, axes = plt.subplots(figsize=(9, 4.2), layout="constrained")
axes.plot(curve, [model_saving(load) for load in curve], "k", label="Eq. 5 and 6")
for shift, (setting, found) in enumerate(savings.items()):
    error = [[one.value - one.low for one in found], [one.high - one.value for one in found]]
    place = np.array(some) + 0.006 * (shift - 1.5)
    axes.errorbar(place, [one.value for one in found], yerr=error, fmt="o-", capsize=3, linewidth=1, label=setting)
axes.axhline(0, color="grey", linewidth=0.8)
axes.set(xlabel="load", ylabel="mean completion time saved, %", title="What a second copy saves a short flow")
axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()

# %% [markdown]
# **Where the network consists of the model's queues, the model is right; on a fat-tree hardly any saving is left, and
# at the lowest and the highest load replication slows short flows down.** The links of the hosts are as slow as all
# others. Both copies leave by one host link and arrive by another, so a busy host link delays both, and a delayed copy
# queues behind the other copy at the receiver's link. With fast hosts a part of the saving comes back. The rest is lost
# because a tree of four pods has four paths, so that copies often share one, and because bursts queue at six ports
# instead of one.
#
# The waits of the two copies show it directly: how they correlate, and how much longer the faster copy waits than the
# faster of two copies that belong to different flows, which are independent. The last columns are the shares of flows
# that exceed the printed 99th percentiles, with one copy and with two.

# %%
rows = [
    {
        "setting": fabric,
        "load": load,
        "correlation of the copies' waits": found["copies_correlation"].mean(),
        "faster copy's wait / if independent": found["faster_wait_packets"].mean()
        / found["unrelated_wait_packets"].mean(),
        "beyond Eq. 11, %": 100 * single["beyond_printed_prob"].mean(),
        "beyond Eq. 12, %": 100 * found["beyond_printed_prob"].mean(),
    }
    for fabric in FABRICS
    for load in some
    for single, found in [(of(fabric, "ecmp", load), of(fabric, "repflow", load))]
]
independence = pd.DataFrame(rows).set_index(["setting", "load"])
independence.round(2)

# %% [markdown]
# On parallel paths one flow in sixteen has both copies on one path, which alone gives a correlation of 1/16. On the
# fat-tree more than a third of the replicated flows take longer than the 99th percentile of Eq. 12.
#
# ## 3. Real flow sizes: replication mainly avoids timeouts
#
# The web search workload at half load, with NewReno and buffers of 100 packets, on a fat-tree of four pods. Long flows
# now keep queues filled, buffers overflow, and a short flow that loses its last packets waits for a timeout of 200 ms.
# The runs are *cold starts*, from an empty fabric: a flow finds on average 85% of the flows that are in progress in a
# settled one.

# %%
web_scenario = Scenario(
    fabric=FatTree(pods=4, delay_s=8e-6 / 3, buffer_packets=100),
    traffic=(Poisson(workload="websearch", load=0.5, flows=1000),),
    params={"transport": {"initial_window_packets": 12, "min_rto_s": 0.2}},
    seed=0,
    end_s=1e3,
)
one_run = simulate(web_scenario, scheme="repflow")
one_run.fct_by_size()

# %% [markdown]
# The first line has the short flows; their mean is far above their median. The same with one copy and with two, and
# four seeds, in terms of the model (`web_search_flows`):

# %%
web = gather(
    [
        Task(web_search_flows, load=0.5, scheme=scheme, flows=1000, seed=seed)
        for scheme in ("ecmp", "repflow")
        for seed in range(4)
    ]
).set_index(["scheme", "seed"])
sizes = load_workload("websearch").in_packets(MSS_BYTES)
by_model = {"ecmp": cm.mean_fct(0.5, sizes=sizes), "repflow": cm.mean_fct(0.5, sizes=sizes, replicas=2)}
means = web[["slowdown", "smooth_slowdown", "timed_out_ratio"]].groupby("scheme").mean()
means.insert(0, "Eq. 5, Eq. 6", by_model)
means.round(3)

# %% [markdown]
# `smooth_slowdown` is the mean of the flows without such a timeout: these save little by a second copy. But a flow with
# two copies waits for a timeout only if both copies have one, so fewer flows do, and these flows dominate the mean. The
# model has neither losses nor timeouts. One run is one observation of a heavy-tailed quantity;
# `pytest tests/agreement/test_replicated_bursts.py` compares more.

# %% [markdown]
# ## Exercises
#
# 1. Show that two independent queues are both busy with probability $\rho^2$, and find it in the table `queue`.
# 2. How large is the saving by Eq. 5 and 6 at load 0.5 for flows of 100 packets that are sent at once, in place of 12?
# 3. Simulate `web_scenario` with `rps` (spraying) in place of `repflow`. Which of the two has the smaller median?
#
# The next cell, which is folded, has solutions.

# %% jupyter={"source_hidden": true, "outputs_hidden": true} tags=["hide-cell"]
# 1. Each queue is busy for a share rho of the time, and they are independent.
print("1.", queue[["load", "both_busy_prob"]].assign(squared=loads**2).round(3).to_string(index=False))

# 2. The waits do not depend on the size, so they are a smaller part of a longer flow.
once_more = [1 + mg1_mean_wait(load, mean_service=M, second_moment_service=M**2) / 100 for load in (0.5, 0.25)]
print(f"2. {1 - once_more[1] / once_more[0]:.1%} instead of {1 - (1 + virtual[4] / X) / (1 + 22 / X):.1%}")

# 3. Same flows, another scheme.
sprayed = simulate(web_scenario, scheme="rps").fct_by_size()
medians_ms = [1e3 * found["median_fct_s"].iloc[0] for found in (one_run.fct_by_size(), sprayed)]
print(f"3. median of short flows: repflow {medians_ms[0]:.2f} ms, rps {medians_ms[1]:.2f} ms")
assert np.abs(queue["both_busy_prob"] - loads**2).max() < 0.02
assert 1 - once_more[1] / once_more[0] < 1 - (1 + virtual[4] / X) / (1 + 22 / X)

# %%
# The text of this notebook, asserted.
assert verdict, verdict
assert np.allclose(exact, loads**2 * (4 - loads) * M / (12 * (1 - loads)), rtol=1e-12)
assert np.allclose(virtual / exact, 6 / (6 - (1 - loads) * (2 - loads)), rtol=1e-12)
assert (one_queue["wait of Eq. 6 / simulated"].iloc[:6] > 1).all()
assert (np.abs(queue["both_busy_prob"] - loads**2) < 5 * queue["error_both_busy_prob"]).all()
assert (queue["beyond_printed_prob"].iloc[:7] > 0.01).all()
assert (queue["shorter_beyond_printed_prob"].iloc[1:] > 0.01).all()
for setting in ("queue pair", "parallel-paths"):
    for load, found in zip(some, savings[setting], strict=True):
        assert abs(found.value - model_saving(load)) < 6, (setting, load)
for load, tree, fast in zip(some, savings["fat-tree"], savings["fat-tree-fast-hosts"], strict=True):
    assert tree.high < model_saving(load) / 2
    assert tree.value < fast.value < model_saving(load)
assert savings["fat-tree"][0].high < 0
assert savings["fat-tree"][-1].high < 0
assert (independence.loc["fat-tree"].iloc[:, 0] > 0.4).all()
assert (np.abs(independence.loc["parallel-paths"].iloc[:, 0] - 1 / PATHS) < 0.08).all()
assert (independence.loc["fat-tree"].iloc[:, 1] > 1.1).all()
assert (independence.loc["fat-tree", "beyond Eq. 12, %"] > 100 / 3).all()
short = one_run.flows[one_run.flows["short"]]
timed_out = (short["fct_s"][int(0.05 * len(short)) :] > 0.2).mean()
assert timed_out == web.loc[("repflow", 0), "timed_out_ratio"]  # web_scenario is what web_search_flows simulates
smooth = means["smooth_slowdown"]
assert smooth["ecmp"] > 2 * by_model["ecmp"]
assert 1 - smooth["repflow"] / smooth["ecmp"] < (1 - by_model["repflow"] / by_model["ecmp"]) / 2
assert means.loc["repflow", "timed_out_ratio"] < means.loc["ecmp", "timed_out_ratio"]
assert means.loc["ecmp", "slowdown"] > 3 * smooth["ecmp"]
