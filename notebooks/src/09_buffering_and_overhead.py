# %% [markdown]
# # Waiting for a unit, and what coding costs
#
# Two small formulas of CAPS, and one estimate that everything hangs on.
#
# * Packets of a unit leave back to back, so the first waits for the last: $d_B = (k-1)\,MSS/2C$ on average (Eq. 3).
# * A sender adds $r=\lceil k\,p_B/(1-p_B)\rceil$ repair packets. With $g$ packets of long flows for each source packet
#   their share of all traffic is $\eta = p_B/(1+g(1-p_B))$ (Eq. 7).
# * $p_B$ is measured: the share of acknowledgements whose round trip took more than twice the usual.

# %%
import numpy as np
from matplotlib import pyplot as plt

import capsmodel as cm
from capsim.simulate import simulate
from capsmodel.coding_unit import buffering_delay_s
from capsmodel.experiments.agreement import agreement
from capsmodel.experiments.measurements.coding_units import PINNED
from capsmodel.experiments.measurements.unit_overhead import live_scenario, rtt_samples
from capsmodel.experiments.statistics import mean_interval
from capsmodel.experiments.sweep import Task, gather

MEASUREMENTS = "capsmodel.experiments.measurements."


def measured(name, *payloads):
    return gather([Task(function=MEASUREMENTS + name, payload=payload) for payload in payloads])


# %% [markdown]
# ## The wait, to the picosecond
#
# Lone units over ten free paths, one after the other. The simulator's clock counts picoseconds, and packets confirm
# Eq. 3 to one of them:

# %%
SIZES = (1, 2, 4, 8, 16, 32, 64)
waits = measured("unit_delays.lone_unit_waits", *({"k": k, "units": 10, "seed": 9} for k in SIZES))
expected_s = buffering_delay_s(np.array(SIZES), packet_bytes=1500, rate_bps=1e9)
for k, low_s, high_s, model_s in zip(SIZES, waits["least_wait_s"], waits["largest_wait_s"], expected_s, strict=True):
    print(f"k = {k:2d}: {low_s * 1e6:7.3f} to {high_s * 1e6:7.3f} µs, Eq. 3 {model_s * 1e6:7.3f} µs")

# %% [markdown]
# ## The overhead, when $p_B$ is known
#
# If the sender knows $p_B = n_L/N$, then Eq. 7 with $r$ rounded up is the count of packets, not an approximation:

# %%
rows = []
for k, long_flows in ((16, 1), (16, 2), (32, 3)):
    r = int(cm.repair_packets(k, blocking_prob=long_flows / 10))
    sent = {"k": k, "r": r, "n_paths": 10, "long_flows": long_flows, "windows": 20, "seed": 9}
    counted = measured("unit_overhead.packets_sent", sent).iloc[0]
    g = counted["long_packets"] / counted["source_packets"]
    eta = counted["repair_packets"] / counted["all_packets"]
    rows.append((eta, cm.traffic_overhead(long_flows / 10, long_short_ratio=g, k=k)))
    print(f"k = {k}, {long_flows} of 10 paths, g = {g:.1f}: counted {rows[-1][0]:.5%}, Eq. 7 {rows[-1][1]:.5%}")

# %% [markdown]
# ## And when the sender has to find out
#
# Now the scheme `caps` as it stands, but for the long flows, which keep to paths of their own: flows of 64 packets, $r$
# from each flow's own estimate, three long flows on ten paths, so $p_B$ is 0.3 and a unit of $k$ should get $0.43\,k$
# repair packets. Units of the window (what CAPS first proposes), of 10 packets, and of the $k$ that Eq. 4 finds best:

# %%
UNITS, SEEDS = ("window", "fixed", "optimal"), range(8)
setting = {"n_paths": 10, "long_flows": 3, "flows": 20}
live = measured(
    "unit_overhead.live_redundancy", *({**setting, "unit_size": u, "seed": 90 + s} for u in UNITS for s in SEEDS)
)
live["ratio"] = live["repair_packets"] / live["source_packets"]
asked = 0.3 / (1 - 0.3)
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
intervals = {u: mean_interval(live.loc[live["unit_size"] == u, "ratio"]) for u in UNITS}
for i, found in enumerate(intervals.values()):
    left.errorbar(i, found.value, found.high - found.value, fmt="o", capsize=3, color="C0")
left.axhline(asked, color="C1", label="$p_B/(1-p_B)$ with $p_B = n_L/N$")
left.set(
    xticks=range(3), xticklabels=["window", "10 packets", "best by Eq. 4"], xlabel="size of the unit", ylabel="r/k sent"
)
left.set_ylim(-0.02, 0.5)
left.legend(frameon=False)

for unit_size, colour in (("window", "C0"), ("optimal", "C2")):
    run = simulate(live_scenario(unit_size, n_paths=10, long_flows=3, flows=20, seed=90), scheme=PINNED)
    rtts_ms = rtt_samples(run)["rtt_ps"].to_numpy() / 1e9
    right.plot(np.sort(rtts_ms), np.linspace(0, 1, rtts_ms.size), color=colour, label=f"units: {unit_size}")
    if unit_size == "window":
        spread = np.percentile(rtts_ms, [1, 99])
right.set(xlabel="round trip that an ACK tells, ms", ylabel="share of ACKs", xlim=(0, 4))
right.legend(frameon=False)
plt.show()
print({u: str(found) for u, found in intervals.items()})

# %% [markdown]
# With units of the window **hardly a repair packet is sent**, though three packets in ten are blocked. The right panel
# says why. A TCP acknowledgement tells when its *unit* was decoded, here counted from when that unit was sent. Without
# repair packets a unit of 10 or more waits for its slowest packet, all its acknowledgements come together after 3 ms,
# and that is what is usual: none takes twice as long as the others. What coding hides from TCP it hides from the
# estimator too. Small units tell more, because some decode at once.
#
# To start from the true $p_B$ in place of 0 does not help: the first measurement undoes it.

# %%
from_truth = measured(
    "unit_overhead.live_redundancy", setting | {"unit_size": "window", "initial_blocking_prob": 0.3, "seed": 90}
)
later = (from_truth["mean_held_prob"].item() - 0.3 * (10 + 20) / 64) / (34 / 64)
print(f"p_B = 0.3 for the units of 10 and 20 packets, {later:.4f} for the last 34 of a flow's 64")

# %% [markdown]
# The rule itself is followed. Computing the estimate again from the packet trace gives the $r$ of every single unit:

# %%
print(f"{live['units_by_rule'].sum()} of {live['units'].sum()} units have the r that the rule gives for the p_B held")

# %% [markdown]
# So $\eta$ is that of Eq. 7 at the $p_B$ *held*, a little less: with few acknowledgements in a period the estimate is
# often 0 or 1, and $r$ is at most $k$. At the true $n_L/N$ Eq. 7 asks for much more than is sent.

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

# %%
# The text of this notebook, asserted.
assert np.allclose(waits["least_wait_s"], expected_s, rtol=0, atol=1e-12)
assert np.allclose(waits["largest_wait_s"], expected_s, rtol=0, atol=1e-12)
assert np.allclose(*np.transpose(rows), rtol=1e-12)
assert intervals["window"].value < 0.02 * asked
assert intervals["fixed"].value < intervals["optimal"].value < asked
assert intervals["optimal"].high < asked
assert spread[0] > 2.5
assert spread[1] < 2 * spread[0]
assert abs(later) < 0.01
assert (live["units_by_rule"] == live["units"]).all()
assert verdict, verdict
assert eta.mean() < at_held.mean() < at_true.mean()
