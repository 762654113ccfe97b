# %% [markdown]
# # A scheme of your own
#
# The simulator also runs schemes that are not part of the package. One of your own takes one cell.
# A scheme is a combination of a balancer for switches, a queue for ports and a stack for hosts; here all but the
# balancer are those of random packet spraying (RPS).
#
# A balancer is one function: it is called at every switch that has a choice, and returns the position of a port. It
# runs step by step under SimPy (`engine="reference"`) and compiled (`engine="compiled"`), with identical results. A
# function typed into a cell, like this one, is compiled anew in each session; one in a file is compiled once and found
# on disk by the next process.
#
# **After this notebook** you can write a balancer, check it with both engines, and compare it with other schemes. It
# runs in about 40 s on two cores, most of it compilation.

# %%
from dataclasses import replace

from matplotlib import pyplot as plt

from capsim import (
    Balancer,
    LeafSpine,
    ParameterError,
    Poisson,
    Probes,
    Scenario,
    compare,
    scheme,
    simulate,
    with_settings,
)


def shorter_of_two(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    """Of two different random ports, take the one with fewer bytes queued."""
    count = len(candidates)
    first = int(u0 * count)
    second = (first + 1 + int((u0 * count - first) * (count - 1))) % count
    fewer = ports[candidates[second]].queue_bytes < ports[candidates[first]].queue_bytes
    return second if fewer else first


two_choices = replace(
    scheme("rps"),
    name="two_choices",
    summary="each packet takes the shorter of two random queues",
    cite="Mitzenmacher 2001",
    balancer=Balancer(name="two_choices", choose=shorter_of_two, draws=True),
)

# %% [markdown]
# A small leaf-spine, 3:1 oversubscribed, with the web-search workload, and the queues of one leaf sampled. The run is a
# short *cold start*, from an empty fabric: a flow finds on average some 60% of the flows of a settled fabric at this
# load.

# %%
scenario = Scenario(
    fabric=LeafSpine(leaves=4, hosts_per_leaf=12, spines=4),
    traffic=(Poisson(workload="websearch", load=0.6, load_of="leaf-uplinks", flows=150, pairs="other-leaf"),),
    probes=Probes(period_s=1e-3, ports=("leaf0>spine*",)),
)
result = simulate(scenario, scheme=two_choices)
result.flows.describe()[["flow_bytes", "fct_s", "slowdown", "retransmissions"]]

# %% mystnb={"image": {"alt": "packets queued over time at the four ports from a leaf to the spines, a row each"}}
queues = result.samples("port.queue_packets")
figure, rows = plt.subplots(len(queues.columns), sharex=True, sharey=True, figsize=(7, 5), layout="constrained")
for axes, (name, samples) in zip(rows, queues.items(), strict=True):
    axes.plot(samples, linewidth=0.8)
    axes.set_title(name, fontsize="small", loc="left")
rows[-1].set_xlabel("time, s")
figure.supylabel("packets queued at the port")
plt.show()

# %% [markdown]
# Compared with equal-cost multipath (ECMP, one path for each flow) and RPS, on the same flows:

# %%
compared = compare(scenario.replace(probes=None), schemes=["ecmp", "rps", two_choices], seeds=3)
table = compared.table(["mean_fct_short_s", "mean_fct_long_s", "reorder_ratio"])
table.pivot(index="metric", columns="scheme", values=["mean", "half_width"]).round(5)

# %% [markdown]
# Both engines agree to the last bit. Choosing the shorter of two queues reordered fewer packets than choosing at
# random, on average over three seeds; the half widths are as large as the difference, so a claim would need more seeds.
# So would one about short flows: they took longer here, by less than the half width.

# %% [markdown]
# ## Exercises
#
# 1. Write a balancer that takes the shortest of *all* queues, not of two, and compare the share of reordered packets
#    with that of `two_choices`, over the same flows. With `engine="reference"` nothing is compiled; 30 flows are
#    enough.
# 2. A hook may use its arguments, numbers, `if` and loops. Put a dictionary into yours: what does the compiled engine
#    say?
# 3. What goes wrong if a balancer always takes the *first* of several equally short queues?
#
# The next cell, which is folded, has solutions.


# %% jupyter={"source_hidden": true, "outputs_hidden": true} tags=["hide-cell"]
# 1. The loop over all candidates.
def shortest_of_all(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    """Take the first of the shortest queues."""
    best = 0
    for i in range(1, len(candidates)):
        if ports[candidates[i]].queue_bytes < ports[candidates[best]].queue_bytes:
            best = i
    return best


shortest = replace(two_choices, name="shortest", balancer=Balancer(name="shortest", choose=shortest_of_all))
fewer = with_settings(scenario, {"traffic.flows": 30})
runs = {each.name: simulate(fewer, scheme=each, engine="reference") for each in (two_choices, shortest)}
for name, run in runs.items():
    print(f"1. {name}: {run.summary.reorder_ratio:.3%} reordered")


# 2. It names the line and the rule.
def counts_flows(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    """Try to remember flows in a dictionary."""
    seen = {}
    seen[sub.flow] = 1
    return 0


counting = replace(two_choices, name="counting", balancer=Balancer(name="counting", choose=counts_flows))
try:
    simulate(scenario, scheme=counting)
except ParameterError as error:
    told = str(error)
print(f"2. {told}")

# 3. While queues are empty, as they mostly are, all packets take the first port: its queue builds up first.
ports = runs["shortest"].ports.set_index("name")["packets_out"]
uplinks = {name: int(ports[name]) for name in ("leaf0>spine0", "leaf0>spine3")}
print(f"3. packets sent: {uplinks}")

# %%
# The text of this notebook, asserted.
compiled = simulate(fewer, scheme=two_choices)
assert compiled.flows.equals(runs["two_choices"].flows)
assert compiled.ports.equals(runs["two_choices"].ports)
reordered = table[table["metric"] == "reorder_ratio"].set_index("scheme")
mean, half_width = reordered["mean"], reordered["half_width"]
assert mean["ecmp"] == 0 < mean["two_choices"] < mean["rps"]
assert half_width["two_choices"] + half_width["rps"] > mean["rps"] - mean["two_choices"]
short = table[table["metric"] == "mean_fct_short_s"].set_index("scheme")
assert 0 < short["mean"]["two_choices"] - short["mean"]["rps"] < short["half_width"]["two_choices"]
assert "cannot be compiled" in told
assert "seen[sub.flow] = 1" in told
assert uplinks["leaf0>spine0"] > uplinks["leaf0>spine3"]
