# %% [markdown]
# # The optimal-unit calculator
#
# How many source packets $k$ should a coding unit have, and how many repair packets $r$, in *your* fabric? Notebook 2
# explains the formula, notebook 9 tests it in simulations, notebook 15 shows that the optima printed in the paper are
# not those of its formula. This notebook has the sliders. Run all cells and move them. Without a running kernel the
# pictures show the setting of the paper, CAPS (coding-based adaptive packet spraying).
#
# A second calculator, at the end, has a slider for the load and a list of schemes: how long flows take under each.
#
# **After this notebook** you can say for a fabric of your own whether coding is worth it, with units of which size, and
# which quantity decides that; and under which scheme its flows end first. It runs in about 5 s on two cores.
#
# | field | symbol | meaning |
# |---|---|---|
# | window | $w$ | packets that the sender has in flight, coded together in $w/k$ units |
# | paths, long flows | $p_B=n_L/n$ | each long flow blocks one path, a packet takes a random path |
# | rate, packet | $C$, $MSS$ | they give the time to fill a unit and to send the repair packets |
# | RTT, free and blocked | $RTT_S$, $RTT_L$ | round-trip time (RTT) on a free path, and behind a long flow |
# | objective | | Eq. 4 of CAPS with its rule for $r$, or with the time to send the repair packets and $r$ free |
#
# Rate, packet size and times are typed with their units: `400Gbps`, `9000B`, `400us`.

# %%
from IPython.display import Image

from capsim import LeafSpine, Poisson, Scenario, model_inputs
from capsmodel.calculator import CAPS_SETTING, Calculator, CompletionTimes, best_unit, unit_png

# %% [markdown]
# ## The setting of the paper
#
# A window of 64 packets, 8 of 40 paths with a long flow, 1 Gbps. For each $k$ the best $r$ is taken. The red point is
# the best unit; in the red stripe lie all units whose delay is within 1% of the least.

# %% mystnb={"image": {"alt": "delay, decoding probability and share of repair packets over k; best at k = 28"}}
print(CAPS_SETTING)
Image(unit_png(CAPS_SETTING))

# %% [markdown]
# ## The sliders

# %%
calculator = Calculator()
calculator

# %% [markdown]
# ## The effect of each field
#
# The same fields, set by the program. The best unit grows with the window: 12, 28, 64 source packets for windows of 16,
# 64, 256. On a faster link repair packets take less time, so more of them are sent, and the unit grows a little. If
# blocked packets wait less, there is less to gain by avoiding them. When no path is blocked, coding is of no use. And
# when half of the paths are blocked, a window of 256 packets at 1 Gbps is not worth coding either: sending enough
# repair packets takes longer than waiting.

# %%
moves = {
    "setting of the paper": {},
    "10 Gbps": {"rate": "10Gbps"},
    "400 Gbps, RTTs 20 and 400 µs": {"rate": "400Gbps", "rtt_short": "20us", "rtt_long": "400us"},
    "window of 16": {"window_packets": 16},
    "window of 256": {"window_packets": 256},
    "2 of 40 paths blocked": {"long_flows": 2},
    "no path blocked": {"long_flows": 0},
    "20 blocked, window of 256": {"long_flows": 20, "window_packets": 256},
    "blocked packets take 1 ms": {"rtt_long": "1ms"},
    "Eq. 4 as printed": {"objective": "eq4"},
}
units = {name: calculator.move(**values) for name, values in moves.items()}
for name, best in units.items():
    print(f"{name:28s} k = {best.k:2d}, r = {best.r:2d}, {1e3 * best.delay_s:.3f} ms, p_S = {best.decode_prob:.3f}")
paper = calculator.move()

# %% [markdown]
# ## Load and schemes
#
# Which transport at which load? No packet is sent for this answer: the formulas are those of notebook 23, and
# [completion times without packets](../docs/prediction.md) says how far they are from packets. Fabric and flows are a
# scenario, to be changed here; the slider is the load, and several schemes may be chosen. Bounds (`ecmp`: Reno over
# ports that drop, whose timers have no formula) have no curve, and stand behind `>`.
#
# Where ports send short flows first (`ecmp_pq`) these hardly feel the load. Sprayed packets with windows that follow
# delays (`uet`) are ahead of one path with marks (`dctcp`) for short and for long flows.

# %% mystnb={"image": {"alt": "times of short flows and slowdown of long ones over the load, for three schemes"}}
fabric = LeafSpine(leaves=4, hosts_per_leaf=4, spines=4, rate_bps=100e9, delay_s=1e-6)
web = Poisson(workload="websearch", load=0.4, flows=1000)
scenario = Scenario(fabric=fabric, traffic=(web,), profile="100g", nic="round_robin")
models = {name: model_inputs(scenario, scheme=name) for name in ("uet", "dctcp", "ecmp_pq", "ecmp")}
times = CompletionTimes(models)
Image(times.picture.value)

# %%
times

# %% [markdown]
# ## Exercises
#
# 1. In the setting of the paper, up to how many long flows on 40 paths does coding halve the delay of the window, at
#    least?
# 2. Your fabric has 100 Gbps, RTTs of 10 µs and, behind a long flow, 200 µs, and jumbo packets of 9000 bytes. What
#    should a window of 32 packets with 3 of 32 paths blocked do?
# 3. Which single field changes the best $k$ most when it is halved?
#
# The next cell, which is folded, has solutions.

# %% jupyter={"source_hidden": true, "outputs_hidden": true} tags=["hide-cell"]
# 1. The delay with the best unit over that without coding, for each number of long flows.
halved = [
    flows
    for flows in range(1, 40)
    if (best := best_unit(CAPS_SETTING | {"long_flows": flows})).delay_s <= best.uncoded_delay_s / 2
]
print(f"1. from {halved[0]} to {halved[-1]} long flows")

# 2. Type it into the calculator, or ask for it here.
mine = {"rate": "100Gbps", "rtt_short": "10us", "rtt_long": "200us", "packet": "9000B"}
answer = best_unit(CAPS_SETTING | mine | {"window_packets": 32, "paths": 32, "long_flows": 3})
print(
    f"2. k = {answer.k}, r = {answer.r}: {1e6 * answer.delay_s:.1f} µs in place of {1e6 * answer.uncoded_delay_s:.1f}"
)

# 3. Each field halved in turn.
less = {"window_packets": 32, "paths": 20, "long_flows": 4, "rate": "500Mbps", "rtt_short": "50us", "rtt_long": "1.5ms"}
best_k = {key: best_unit(CAPS_SETTING | {key: value}).k for key, value in less.items()}
print(f"3. {best_k}")
assert halved == list(range(halved[0], halved[-1] + 1))
assert 2 * answer.delay_s < answer.uncoded_delay_s
assert min(best_k, key=best_k.get) == "window_packets"

# %%
# The text of this notebook, asserted.
assert (paper.k, paper.r) == (28, 15)
assert (paper.near_k_min, paper.near_k_max) == (22, 34)
for name, values in moves.items():
    assert units[name] == best_unit(CAPS_SETTING | values)
    assert (units[name] != paper) == bool(values)
assert [units[name].k for name in ("window of 16", "setting of the paper", "window of 256")] == [12, 28, 64]
fast, near = units["10 Gbps"], units["blocked packets take 1 ms"]
assert fast.r > paper.r
assert paper.k < fast.k < 1.2 * paper.k
assert near.r < paper.r
assert near.decode_prob < paper.decode_prob
assert units["no path blocked"].r == 0
assert units["20 blocked, window of 256"].r == 0
assert units["20 blocked, window of 256"].delay_s == units["20 blocked, window of 256"].uncoded_delay_s
assert units["Eq. 4 as printed"].k == 61
at = {name: model.predict([0.2, 0.6]) for name, model in models.items()}
assert at["ecmp_pq"].short.mean_s[1] < 1.1 * at["ecmp_pq"].short.mean_s[0]
assert (at["uet"].short.mean_s < at["dctcp"].short.mean_s).all()
assert (at["uet"].long.mean_slowdown < at["dctcp"].long.mean_slowdown).all()
