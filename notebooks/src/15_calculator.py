# %% [markdown]
# # The optimal-unit calculator
#
# How many source packets $k$ should a coding unit have, and how many repair packets $r$, in *your* fabric? Notebook 2
# explains the formula, notebook 8 tests it in simulations, notebook 14 shows that the optima printed in
# the paper are not those of its formula. This notebook has the sliders. Run all cells and move them. Without a running
# kernel the pictures show the setting of the paper, CAPS (coding-based adaptive packet spraying).
#
# | slider | symbol | meaning |
# |---|---|---|
# | window | $w$ | packets that the sender has in flight, coded together in $w/k$ units |
# | paths, long flows | $p_B=n_L/n$ | each long flow blocks one path, a packet takes a random path |
# | rate, packet | $C$, $MSS$ | they give the time to fill a unit and to send the repair packets |
# | RTTs | $RTT_S$, $RTT_L$ | round-trip time of a packet on a free path, and of one behind a long flow |
# | objective | | Eq. 4 of CAPS with its rule for $r$, or with the time to send the repair packets and $r$ free |

# %%
from io import BytesIO

import ipywidgets as widgets
from IPython.display import display
from matplotlib import pyplot as plt

import capsmodel as cm


def best_unit(*, window_packets, paths, long_flows, objective, **fabric):
    """Return the blocking probability, the best unit, and the delay of every unit."""
    setting = {"blocking_prob": long_flows / paths, "objective": objective, **fabric}
    best = cm.optimal_coding_unit(window_packets, **setting)
    return setting["blocking_prob"], best, cm.delay_curve(window_packets, **setting)


def answer(blocking_prob, best):
    """Return the best unit as text."""
    coded = f"k = {best.k} with r = {best.r}" if best.r else "no repair packets"
    near = f"within 1% of it for k = {best.near_k_min} to {best.near_k_max}"
    delays = f"{1e3 * best.delay_s:.3g} ms ({1e3 * best.uncoded_delay_s:.3g} ms without coding)"
    return f"$p_B$ = {blocking_prob:.3g}: {coded}, {delays}, {near}"


def draw(**setting):
    """Return a figure of the best unit among all units."""
    blocking_prob, best, curve = best_unit(**setting)
    decode_prob = cm.decode_prob(curve.k, r=curve.r, blocking_prob=blocking_prob)
    window_prob = decode_prob ** (setting["window_packets"] / curve.k)
    figure, (delay, decoding, overhead) = plt.subplots(1, 3, figsize=(9.6, 3), layout="constrained")
    delay.plot(curve.k, 1e3 * curve.delay_s)
    delay.plot(best.k, 1e3 * best.delay_s, "C3o", label="best unit")
    delay.axhline(1e3 * best.uncoded_delay_s, color="grey", linestyle=":", label="without coding")
    delay.set(ylabel="mean delay of the window, ms", ylim=(0, None))
    decoding.plot(curve.k, decode_prob, label="a unit")
    decoding.plot(curve.k, window_prob, label="all units of the window")
    decoding.plot(best.k, best.decode_prob, "C3o")
    decoding.set(ylabel="decoding probability", ylim=(0, 1.04))
    overhead.plot(curve.k, 100 * curve.r / (curve.k + curve.r))
    overhead.plot(best.k, 100 * best.r / (best.k + best.r), "C3o")
    overhead.set(ylabel="repair packets, % of all", ylim=(0, 100))
    for axes in (delay, decoding, overhead):
        axes.axvspan(best.near_k_min - 0.5, best.near_k_max + 0.5, color="C3", alpha=0.12, linewidth=0)
        axes.set(xlabel="source packets of a unit, k", xlim=(0, setting["window_packets"] + 1))
    delay.legend(frameon=False, fontsize="small")
    decoding.legend(frameon=False, fontsize="small")
    figure.suptitle(answer(blocking_prob, best), fontsize="medium")
    return figure


# %% [markdown]
# ## The setting of the paper
#
# A window of 64 packets, 8 of 40 paths with a long flow, 1 Gbps. For each $k$ the best $r$ is taken. The red point is
# the best unit; in the red stripe lie all units whose delay is within 1% of the least.

# %%
PAPER = {
    "window_packets": 64,
    "paths": 40,
    "long_flows": 8,
    "rate_bps": 1e9,
    "rtt_short_s": 1e-4,
    "rtt_long_s": 3e-3,
    "packet_bytes": 1500,
    "objective": "with_redundancy_cost",
}
figure = draw(**PAPER)
plt.show()

# %% [markdown]
# ## The sliders

# %%
LOOK = {"style": {"description_width": "7em"}, "layout": widgets.Layout(width="24em"), "continuous_update": False}


def counts(name, quantity, low, high):
    return widgets.IntSlider(PAPER[quantity], min=low, max=high, description=name, **LOOK)


def choices(name, quantity, options):
    return widgets.SelectionSlider(description=name, options=options, value=PAPER[quantity], **LOOK)


sliders = {
    "window_packets": counts("window", "window_packets", 1, 256),
    "paths": counts("paths", "paths", 2, 128),
    "long_flows": counts("long flows", "long_flows", 0, 39),
    "rate_bps": choices("rate", "rate_bps", [(f"{gbps} Gbps", gbps * 1e9) for gbps in (1, 10, 25, 40, 100)]),
    "rtt_short_s": choices("RTT, free", "rtt_short_s", [(f"{us} µs", us / 1e6) for us in (10, 20, 50, 100, 200, 500)]),
    "rtt_long_s": choices("RTT, blocked", "rtt_long_s", [(f"{ms} ms", ms / 1e3) for ms in (0.5, 1, 2, 3, 5, 10)]),
    "packet_bytes": choices("packet", "packet_bytes", [(f"{size} B", size) for size in (512, 1000, 1500, 9000)]),
    "objective": choices(
        "objective", "objective", [("with repair cost", "with_redundancy_cost"), ("Eq. 4 as printed", "eq4")]
    ),
}
# At least one path stays free.
widgets.dlink((sliders["paths"], "value"), (sliders["long_flows"], "max"), transform=lambda paths: paths - 1)
picture = widgets.Image(format="png")


def positions():
    """Return the setting of the sliders."""
    return {quantity: slider.value for quantity, slider in sliders.items()}


def png(figure):
    """Return a figure as the bytes of a PNG."""
    file = BytesIO()
    figure.savefig(file, format="png")
    plt.close(figure)
    return file.getvalue()


def redraw(change=None):
    picture.value = png(draw(**positions()))


for slider in sliders.values():
    slider.observe(redraw, names="value")
redraw()
display(widgets.GridBox(list(sliders.values()), layout=widgets.Layout(grid_template_columns="26em 26em")))
display(picture)

# %% [markdown]
# ## The effect of each slider
#
# The same sliders, moved by the program. The best unit grows with the window: 12, 28, 64 source packets for windows
# of 16, 64, 256. A faster link makes repair packets cheap, so more of them are sent, and the unit grows a little.
# Shorter waits of blocked packets make them less worth avoiding. When no path is blocked, coding is of no use. And
# when half of the paths are blocked, a window of 256 packets at 1 Gbps is not worth coding either: no number of repair
# packets repays the time that sending them takes.


# %%
def move(**values):
    """Move the sliders to the setting of the paper except for `values`; return the best unit and the picture."""
    for quantity, value in (PAPER | values).items():
        sliders[quantity].value = value
    return best_unit(**positions())[1], picture.value


moves = {
    "setting of the paper": {},
    "10 Gbps": {"rate_bps": 1e10},
    "window of 16": {"window_packets": 16},
    "window of 256": {"window_packets": 256},
    "2 of 40 paths blocked": {"long_flows": 2},
    "no path blocked": {"long_flows": 0},
    "20 blocked, window of 256": {"long_flows": 20, "window_packets": 256},
    "blocked packets take 1 ms": {"rtt_long_s": 1e-3},
    "Eq. 4 as printed": {"objective": "eq4"},
}
found = {name: move(**values) for name, values in moves.items()}
for name, (best, _) in found.items():
    print(f"{name:26s} k = {best.k:2d}, r = {best.r:2d}, {1e3 * best.delay_s:.3f} ms, p_S = {best.decode_prob:.3f}")
paper, paper_picture = move()

# %%
# The text of this notebook, asserted.
assert (paper.k, paper.r) == (28, 15)
assert (paper.near_k_min, paper.near_k_max) == (22, 34)
for name, values in moves.items():
    best, shown = found[name]
    assert best == best_unit(**PAPER | values)[1]
    assert shown == png(draw(**PAPER | values))
    assert (best != paper) == (shown != paper_picture) == bool(values)
units = {name: best for name, (best, _) in found.items()}
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
move(paths=4)
assert positions()["long_flows"] == 3
move()
assert picture.value == paper_picture
