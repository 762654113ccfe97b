# %% [markdown]
# # Waiting for a unit, and what coding costs
#
# Two small formulas of CAPS (coding-based adaptive packet spraying), and one estimate on which everything depends.
#
# * Packets of a unit leave back to back, so the first waits for the last: $d_B = (k-1)\,MSS/2C$ on average (Eq. 3).
# * A sender adds $r=\lceil k\,p_B/(1-p_B)\rceil$ repair packets. With $g$ packets of long flows for each source packet
#   their share of all traffic is $\eta = p_B/(1+g(1-p_B))$ (Eq. 7).
# * $p_B$ is measured: the share of acknowledgements (ACKs) whose round-trip time (RTT) is more than twice the average.
#
# **After this notebook** you can compute and measure the wait for a unit and the share of repair packets, and say why a
# sender that measures $p_B$ itself may send none. It runs in about 20 s on two cores.

# %%
import sys

import numpy as np
import pandas as pd
from IPython.display import display
from matplotlib import pyplot as plt

import capsmodel as cm
from capsim import Trace, simulate
from capsim.run.coding_units import PINNED, units_scenario
from capsim.study.campaign import Campaign
from capsim.study.kept_runs import all_tasks
from capsmodel.coding.window_delay import buffering_delay_s
from capsmodel.datafiles import data_path
from capsmodel.experiments.agreement import agreement
from capsmodel.experiments.statistics.intervals import mean_interval
from capsmodel.experiments.statistics.robustness import TEXT
from capsmodel.experiments.sweep import Task, gather
from capsmodel.papers.studies import published_studies

sys.path.append("../tests")  # where measurements stand that tests compare with formulas
from agreement.measured.unit_overhead import (
    by_reading,
    live_redundancy,
    live_scenario,
    packets_sent,
    rtt_samples,
)

from capsmodel.papers.measurements.unit_delays import lone_unit_waits


def measured(function, *payloads):
    return gather([Task(function, **payload) for payload in payloads])


# %% [markdown]
# ## The wait, to the picosecond
#
# Eq. 3 describes a receiver that delivers packets to TCP only when their unit has decoded, as the scheme `caps_decode`
# does. One unit of eight packets over ten free paths shows it; `PINNED` is `caps_decode` with each long flow on a path
# of its own, of which there is none yet. Change $k$, the paths, or the fabric.

# %%
scenario = units_scenario(8, r=0, n_paths=10, long_flows=0, windows=1, window_packets=8, seed=9, trace=True)
print(scenario.replace(notes="").to_toml().partition("[[traffic]]")[0])
run = simulate(scenario, scheme=PINNED)
came_us = 1e6 * (Trace.of(run).arrived("coded")["time_s"].to_numpy() - run.flows["start_s"][0])
decoded_us = 1e6 * run.flows["fct_s"][0]
print("arrived, µs:", came_us.round(1), f"decoded: {decoded_us:.1f}")
print(f"mean wait {(decoded_us - came_us).mean():.1f} µs, Eq. 3: {7 * 12 / 2:.1f} µs")

# %% [markdown]
# The same for other sizes, ten units each. The simulator's clock counts picoseconds, and the simulated waits agree with
# Eq. 3 to one picosecond.

# %%
SIZES = (1, 2, 4, 8, 16, 32, 64)
waits = measured(lone_unit_waits, *({"k": k, "units": 10, "seed": 9} for k in SIZES))
expected_s = buffering_delay_s(np.array(SIZES), packet_bytes=1500, rate_bps=1e9)
for k, low_s, high_s, model_s in zip(SIZES, waits["least_wait_s"], waits["largest_wait_s"], expected_s, strict=True):
    print(f"k = {k:2d}: {low_s * 1e6:7.3f} to {high_s * 1e6:7.3f} µs, Eq. 3 {model_s * 1e6:7.3f} µs")

# %% [markdown]
# ## The overhead, when $p_B$ is known
#
# If the sender knows $p_B = n_L/N$, then Eq. 7 with $r$ rounded up gives the exact packet counts and is not an
# approximation:

# %%
rows = []
for k, long_flows in ((16, 1), (16, 2), (32, 3)):
    r = int(cm.repair_packets(k, blocking_prob=long_flows / 10))
    sent = {"k": k, "r": r, "n_paths": 10, "long_flows": long_flows, "windows": 20, "seed": 9}
    counted = measured(packets_sent, sent).iloc[0]
    g = counted["long_packets"] / counted["source_packets"]
    eta = counted["repair_packets"] / counted["all_packets"]
    rows.append((eta, cm.traffic_overhead(long_flows / 10, long_short_ratio=g, k=k)))
    print(f"k = {k}, {long_flows} of 10 paths, g = {g:.1f}: counted {rows[-1][0]:.5%}, Eq. 7 {rows[-1][1]:.5%}")

# %% [markdown]
# ## The overhead, when the sender estimates $p_B$
#
# CAPS contradicts itself on what the receiver acknowledges. In Section IV packets are delivered to TCP when their unit
# has decoded. Section VI-A measures $p_B$ as the share of ACKs that came late, which needs an ACK for each packet.
# Together with the scheme for unknown sizes and the authors' code there are four readings, each a scheme of the
# simulator:
#
# | scheme | what is acknowledged | $r$ |
# |---|---|---|
# | `caps` | each packet that is new to its unit, when it arrives | from the measured $p_B$ |
# | `caps_dark` | the same; sizes of flows are not known | from the measured $p_B$ |
# | `caps_decode` | a unit, when it decodes | from the measured $p_B$ |
# | `caps_ns2` | as `caps`, after the authors' ns-2 code | 2 of 10, fixed |
#
# Flows of 64 packets are sent beside three long flows, each on its own path among ten: $p_B$ is 0.3, and a unit of $k$
# should get $0.43\,k$ repair packets. Flows start with the estimate $p_B = 0$, so that all of $r$ follows from their
# measurements (the schemes themselves start with 1/6). `live_scenario` builds that setting:

# %%
print(live_scenario("window", n_paths=10, long_flows=3, flows=20, seed=90).replace(notes="").to_toml()[:420], "...")

# %%
READINGS, SEEDS = ("caps", "caps_dark", "caps_decode", "caps_ns2"), range(8)
setting = {"n_paths": 10, "long_flows": 3, "flows": 20, "initial_blocking_prob": 0.0}
found = measured(by_reading, *({**setting, "reading": name, "seed": 90 + s} for name in READINGS for s in SEEDS))
found["ratio"] = found["repair_packets"] / found["source_packets"]
asked = 0.3 / (1 - 0.3)
ratios = {name: found.loc[found["reading"] == name, "ratio"] for name in READINGS}
sent = {name: mean_interval(ratio) for name, ratio in ratios.items() if ratio.std() > 0}
fcts_ms = {name: mean_interval(found.loc[found["reading"] == name, "mean_fct_s"] * 1e3) for name in READINGS}
for name in READINGS:
    print(f"{name:12} r/k {sent.get(name, ratios[name].mean())!s:20} mean FCT {fcts_ms[name]!s} ms")

# %% mystnb={"image": {"alt": "repair packets per source packet and mean completion time of the four readings"}}
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
for place, name in enumerate(READINGS):
    half = sent[name].high - sent[name].value if name in sent else 0.0
    left.errorbar(place, ratios[name].mean(), half, fmt="o", capsize=3, color="C0")
    right.errorbar(place, fcts_ms[name].value, fcts_ms[name].high - fcts_ms[name].value, fmt="o", capsize=3, color="C0")
left.axhline(asked, color="C1", label="$p_B/(1-p_B)$ with $p_B = n_L/N$")
for axes, label in ((left, "repair packets per source packet, r/k"), (right, "mean flow completion time, ms")):
    axes.set(xticks=range(4), xticklabels=READINGS, ylabel=label)
    axes.set_ylim(bottom=-0.02)
left.legend(frameon=False)
plt.show()

# %% [markdown]
# With an ACK for each packet the sender's $r/k$ is two thirds of what it should be, $0.43$: a flow starts
# with $r = 0$, and the blocked packets often arrive when their unit is already complete. These are dropped and not
# acknowledged, so they are not counted as blocked. `caps_dark` does the same here: flows of 64 packets are below its
# threshold of 69.
#
# With an ACK at decoding the sender sends **no repair packet at all**, though three packets in ten are blocked, and
# its flows take longer. `caps_ns2` sends more than its fixed number, because it sends a copy with each
# retransmission. Here, where the blocked share never changes, that is the fastest.

# %% [markdown]
# ## The readings under load
#
# Three settings of the paper's own evaluation, from the runs that the ledger keeps in `data/results/runs`: web search
# on a leaf-spine (the study `caps-leafspine`; RPS is random packet spraying, ECMP is equal-cost multipath with one path
# for each flow), an incast without long flows (`caps-fig26`; RepFlow sends short flows twice), and short
# flows beside three long ones (`caps-fig28`). What stands for CAPS in the study is a setting that the paper leaves
# open, `caps_as`; settings are compared on a third of the fabric (8 of 24 leaves). For one seed all schemes have the
# same flows, so flow completion times (FCTs) are compared seed by seed; below are geometric means of these ratios with
# their 95% intervals. In the second table `caps, r = 0` is `caps` without a single repair packet.

# %%
RESULTS, NONE = data_path("results/runs"), "caps, r = 0"
incast, beside = (pd.read_parquet(RESULTS / f"caps-fig{number}.parquet") for number in (26, 28))
incast = incast.rename(columns={"form": "scheme", "senders": "flows"})
beside = beside.rename(columns={"form": "scheme", "short_flows": "flows"})
SETTINGS = {TEXT: "caps", "caps_as = caps_decode": "caps_decode", "caps_as = caps_ns2": "caps_ns2"}
study = published_studies()["caps-leafspine"]
runs = {one: tasks for one, tasks in all_tasks(study).items() if one.setting in SETTINGS and one.scale == "reduced"}
kept = Campaign(study, RESULTS, runs).frame.query("workload == 'websearch'")
is_caps = kept["scheme"] == "CAPS"
kept = kept.assign(scheme=kept["scheme"].str.lower().mask(is_caps, kept["setting"].map(SETTINGS)))
leaf_spine = kept.drop_duplicates(["load", "scheme", "seed"])  # other schemes are the same in each setting
web = dict(tuple(leaf_spine.groupby("load")))
incast_100 = incast.query("flows == 100 and buffer_packets == 256").groupby("scheme")["timeouts"].mean()
beside_120_ms = 1e3 * beside.query("flows == 120").groupby("scheme")["mean_fct_s"].mean()


def over_rps(name, rows):
    """Return a scheme's mean FCT over that of RPS: geometric mean over seeds, low and high end."""
    fct_s = rows.pivot(index="seed", columns="scheme", values="mean_fct_short_s")
    found = mean_interval(np.log(fct_s[name] / fct_s["rps"]))
    return np.exp([found.value, found.low, found.high])


ratio_to_rps = {(name, load): over_rps(name, rows) for name in READINGS for load, rows in web.items()}
shown = {
    name: {f"FCT over RPS, load {load}": "{:.2f} [{:.2f}, {:.2f}]".format(*ratio_to_rps[name, load]) for load in web}
    for name in READINGS
}
display(pd.DataFrame(shown).T)
others = {
    name: {
        "r/k, ten paths": ratios[name].mean() if name in ratios else 0.0,
        "timeouts, incast of 100": incast_100[name],
        "FCT beside long flows, ms": beside_120_ms[name],
    }
    for name in (*READINGS, NONE)
}
display(pd.DataFrame(others).T.round(2))
by_senders = incast.query("buffer_packets == 256").pivot_table(index="flows", columns="scheme", values="timeouts")
fewer_senders = by_senders.loc[[20, 60], ["caps", "ecmp", "rps", "repflow"]]
print("timeouts in an incast:", fewer_senders.round(1).to_string(), sep="\n")
mean_ms = 1e3 * leaf_spine.pivot_table(index="scheme", columns="load", values="mean_fct_short_s")
with_priority = mean_ms.loc[["ecmp", "ecmp_pq", "rps", "rps_pq"]]
print("mean FCT over load, ms:", with_priority.round(2).to_string(), sep="\n")
print(f"incast of 100: ECMP {incast_100['ecmp']:.0f}, RPS {incast_100['rps']:.0f}, RepFlow {incast_100['repflow']:.0f}")
print(f"beside long flows: ECMP {beside_120_ms['ecmp']:.1f} ms, RPS {beside_120_ms['rps']:.1f}", end=", ")
print(f"with priority {beside_120_ms['ecmp_pq']:.1f} and {beside_120_ms['rps_pq']:.1f}")

# %% [markdown]
# *Web search.* The paper of CAPS prints half the completion time of spraying: ratios of 0.4 to 0.5 at loads of 0.3 to
# 0.8. No reading reaches that. `caps` has 0.85 and 0.90, `caps_decode` 1.07 and 1.18, and these intervals contain 1:
# four runs do not distinguish the two from RPS. `caps_dark`, which does not know the sizes of flows, is faster than RPS
# at 0.3 only. `caps_ns2`, which has Tahoe and a fixed path for each long flow, takes more than five times as long.
# `capsmodel claims caps-f17a-rps --by-setting` says what that means for the claim.
#
# *Repair packets.* Beside three long flows and 119 other short ones that start with it, a flow of `caps` measures a
# $p_B$ for which $r/k$ is nearly one half. Repair packets are not limited by the window; here they are sent into full
# buffers. Without them nothing is lost, and the mean completion time is about a tenth.
#
# *Incast.* The paper claims the fewest timeouts for CAPS up to 100 senders. At 100 `caps` has as many as ECMP and
# RPS, the readings with another acknowledgement or another TCP have more, and RepFlow more still.

# %% [markdown]
# ## Why an ACK at decoding does not measure blocking
#
# `caps_decode` hides blocking from TCP and therefore from the estimator too. Its acknowledgements show when a *unit*
# decoded, here measured from when that unit was sent. Without repair packets a unit of 10 or more waits for its slowest
# packet, and all its acknowledgements come together after 3 ms. That is then the average, and no ACK takes twice as
# long.

# %% mystnb={"image": {"alt": "nearly all ACKs of a unit come together, after about 3 ms"}}
run = simulate(live_scenario("window", n_paths=10, long_flows=3, flows=20, seed=90), scheme=PINNED)
rtts_ms = rtt_samples(run)["rtt_ps"].to_numpy() / 1e9
spread = np.percentile(rtts_ms, [1, 99])
figure, axes = plt.subplots(figsize=(5, 3.2), layout="constrained")
axes.plot(np.sort(rtts_ms), np.linspace(0, 1, rtts_ms.size))
axes.set(xlabel="RTT measured by an ACK, ms", ylabel="share of ACKs", xlim=(0, 4))
plt.show()

# %% [markdown]
# With an ACK at decoding it does not help to start from the true $p_B$ instead of 0: the first measurement replaces it.

# %%
from_truth = measured(live_redundancy, setting | {"unit_size": "window", "initial_blocking_prob": 0.3, "seed": 90})
later = (from_truth["mean_held_prob"].item() - 0.3 * (10 + 20) / 64) / (34 / 64)
print(f"p_B = 0.3 for the units of 10 and 20 packets, {later:.4f} for the last 34 of a flow's 64")

# %% [markdown]
# The unit size of Section VI-C cannot start from 0 either. At $p_B = 0$ the delay of Eq. 4 grows with every packet of a
# unit, so its best unit is $k = 1$ with $r = 0$: nothing is coded. The simulator uses the window as the unit until
# $p_B > 0$.

# %%
free = {"blocking_prob": 0.0, "rtt_short_s": 1e-4, "rtt_long_s": 3e-3, "packet_bytes": 1500, "rate_bps": 1e9}
unblocked, grows = cm.optimal_coding_unit(64, objective="eq4", **free), cm.delay_curve(64, objective="eq4", **free)
print(f"best unit of Eq. 4 at p_B = 0: k = {unblocked.k}, r = {unblocked.r}")

# %% [markdown]
# Smaller units measure a little more, because some decode at once: units of 10, and units of the $k$ that Eq. 4 finds
# best (these flows start with $p_B = 1/6$). The sender follows the rule for $r$ in any case: the estimate, computed
# again from the packet trace, gives the $r$ of every single unit.

# %%
UNITS = {"window": 0.0, "fixed": 0.0, "optimal": 1 / 6}
live = measured(
    live_redundancy,
    *(setting | {"unit_size": u, "initial_blocking_prob": p, "seed": 90 + s} for u, p in UNITS.items() for s in SEEDS),
)
live["ratio"] = live["repair_packets"] / live["source_packets"]
by_size = {u: mean_interval(live.loc[live["unit_size"] == u, "ratio"]) for u in ("fixed", "optimal")}
print({u: str(interval) for u, interval in by_size.items()})
print(f"{live['units_by_rule'].sum()} of {live['units'].sum()} units have the r that the rule gives for the p_B held")

# %% [markdown]
# So $\eta$ is about that of Eq. 7 at the *estimated* $p_B$. Rounding $r$ up adds a little, and with few
# acknowledgements in a period the estimate is often 0 or 1, where $r$ is at most $k$. At the true $n_L/N$ Eq. 7 gives
# much more.

# %%
optimal = live[live["unit_size"] == "optimal"]
g = optimal["long_packets"] / optimal["source_packets"]
eta, held = optimal["repair_packets"] / optimal["all_packets"], optimal["mean_held_prob"]
at_held = cm.traffic_overhead(held, long_short_ratio=g)
rounding = (optimal["repair_packets"] - optimal["needed_packets"]) / optimal["all_packets"]
bias = float((held * at_held + rounding).mean())
verdict = agreement(0.0, eta - at_held, bias=bias, detect=bias + 0.5 * at_held.mean())
at_true = cm.traffic_overhead(0.3, long_short_ratio=g)
print(verdict)
print(f"overhead {eta.mean():.3%}; Eq. 7 at the mean p_B held {at_held.mean():.3%}, at n_L/N {at_true.mean():.3%}")

# %% [markdown]
# ## Exercises
#
# 1. A unit of 64 packets at 100 Gbps: how long is the mean wait $d_B$? Compare it with a round-trip time of 20 µs.
# 2. At which $g$ is the overhead of Eq. 7 below 1% if $p_B=0.2$?
# 3. Suppose three of ten ACKs come after 3.1 ms and the others after 0.1 ms. Does "more than twice the average" find
#    them? Up to which share of such ACKs does it?
#
# The next cell, which is folded, has solutions.

# %% jupyter={"source_hidden": true, "outputs_hidden": true} tags=["hide-cell"]
# 1. 63 packets of 0.12 µs, half of that on average.
wait_us = 1e6 * buffering_delay_s(64, packet_bytes=1500, rate_bps=100e9)
print(f"1. {wait_us:.2f} µs")

# 2. p / (1 + g (1 - p)) = 0.01 gives g = (p / 0.01 - 1) / (1 - p).
least_g = (0.2 / 0.01 - 1) / (1 - 0.2)
print(f"2. from g = {least_g:.2f} on: {cm.traffic_overhead(0.2, long_short_ratio=least_g):.3%}")

# 3. The average is 0.1 + 3 p ms, so 3.1 > 2 (0.1 + 3 p) while p < 0.483.
average_ms = 0.1 + 3 * np.array([0.3, 0.48, 0.49])
print(f"3. 3.1 ms is above twice the average: {(2 * average_ms < 3.1).tolist()}")
assert abs(wait_us - 63 * 0.12 / 2) < 1e-9
assert abs(cm.traffic_overhead(0.2, long_short_ratio=least_g) - 0.01) < 1e-12
assert (2 * average_ms < 3.1).tolist() == [True, True, False]

# %%
# The text of this notebook, asserted.
assert np.allclose(waits["least_wait_s"], expected_s, rtol=0, atol=1e-12)
assert np.allclose(waits["largest_wait_s"], expected_s, rtol=0, atol=1e-12)
assert np.allclose(*np.transpose(rows), rtol=1e-12)
assert (found["unfinished_flows"] == 0).all()
for name in ("caps", "caps_dark"):
    assert asked / 2 < sent[name].low < sent[name].high < asked
    assert fcts_ms[name].high < fcts_ms["caps_decode"].low
assert (ratios["caps_decode"] == 0).all()
assert sent["caps_ns2"].low > 0.2
assert spread[0] > 2.5
assert spread[1] < 2 * spread[0]
assert list(web) == [0.3, 0.8]
for load in web:
    for name in ("caps", "caps_decode"):
        assert ratio_to_rps[name, load][1] < 1 < ratio_to_rps[name, load][2]
    assert all(ratio_to_rps[name, load][1] > 0.5 for name in READINGS)
    assert ratio_to_rps["caps_ns2", load][1] > 5
assert [round(float(ratio_to_rps["caps", load][0]), 2) for load in web] == [0.85, 0.9]
assert [round(float(ratio_to_rps["caps_decode", load][0]), 2) for load in web] == [1.07, 1.18]
assert ratio_to_rps["caps_dark", 0.3][2] < 1 < ratio_to_rps["caps_dark", 0.8][2]
assert beside_120_ms["caps"] > 9 * beside_120_ms[NONE]
at_120 = beside.query("flows == 120").groupby("scheme")[["repair_ratio", "lost_ratio"]].mean()
assert 0.4 < at_120.loc["caps", "repair_ratio"] < 0.5
assert at_120.loc[NONE, "lost_ratio"] == 0 < at_120.loc["caps", "lost_ratio"]
assert incast_100["ecmp"] < incast_100["caps"] < 1.1 * incast_100["ecmp"]
assert 2 * incast_100["caps"] < incast_100["caps_ns2"] < incast_100["caps_decode"] < incast_100["repflow"]
more = (1 / fewer_senders[["ecmp", "rps"]]).mul(fewer_senders["caps"], axis=0).to_numpy()
assert 3.5 < more.min() < more.max() < 7
assert 8.5 < beside_120_ms["caps"] / beside_120_ms["rps"] < 9.5
assert (with_priority.loc["rps_pq"] < with_priority.loc["rps"] / 2).all()
assert (with_priority.loc["ecmp_pq"] < with_priority.loc["ecmp"] / 10).all()
assert abs(later) < 0.01
assert (unblocked.k, unblocked.r) == (1, 0)
assert (np.diff(grows.delay_s) > 0).all()
assert 0 < by_size["fixed"].value < by_size["optimal"].value
assert by_size["optimal"].high < asked
assert (live["units_by_rule"] == live["units"]).all()
assert verdict, verdict
assert abs(eta.mean() - at_held.mean()) < 0.1 * at_held.mean()
assert at_held.mean() < 0.6 * at_true.mean()
