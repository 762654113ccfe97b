# %% [markdown]
# # Code, replicate, trim or mark?
#
# The five papers end in 2021. Today packets are sprayed over all paths, and losses on the way are found by time, told
# by trimmed packets (a full port cuts a packet down to its header), prevented by marks (ECN, explicit congestion
# notification), or repaired by a code. Here fifteen combinations get the same flows at 100 Gbit/s: a fat-tree of 128
# hosts, and the same with long links between the pods and the core, as between two sites. The study is
# `data/studies/beyond.toml`, its rows are in `data/results/beyond.3.parquet`, and `capsmodel study beyond` makes them
# again, in an hour of processor time.
#
# The scheme that all are compared with, *mark: spray*, sends packets over all paths, has DCTCP's windows and finds
# losses by time (RACK, RFC 8985). *Trim* has the same sender without marks; *receivers pull* is NDP (2017), and
# *trim, mark, learn paths* is modelled on Ultra Ethernet (2025): windows by delay and marks, and paths that were free
# are used again (REPS). It stands here twice more: over ports that drop, where only a timer tells of a loss, and with
# windows that follow marks alone. *Code: blocks of 32* sends eight repair packets with 32 and repeats what they do not
# cover; *code: all flows* is CDCPS.
#
# **After this notebook** you can say which of these help where links are equal, where one is slow, where many send to
# one and where links lose packets, and from which loss on a code is faster than repetition. It runs in about 20 s on
# two cores.

# %%
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.ticker import LogLocator

import capsmodel as cm
from capsim import load_study, simulate
from capsim.study.points import point_name
from capsmodel.datafiles import data_path
from capsmodel.experiments.statistics.intervals import paired_ratio

runs = pd.read_parquet(data_path("results/beyond.3.parquet"))
REFERENCE = "mark: spray"
SCHEMES = list(dict.fromkeys(runs["scheme"]))
# Of collectives the time of the whole operation, of all others the mean completion time over that of a flow alone.
runs["time"] = runs["mean_collective_s"].fillna(runs["mean_slowdown"])
print(f"{len(runs)} runs, {runs['scheme'].nunique()} schemes, {runs['case'].nunique()} cases")


def over_reference(case, scheme):
    """Return the time over that of the reference with the same flows: geometric mean over seeds, with 95% interval."""
    found = runs[runs["case"] == case].pivot(index="seed", columns="scheme", values="time").dropna(subset=[scheme])
    return paired_ratio(found[scheme], found[REFERENCE])


ratio = {(case, scheme): over_reference(case, scheme) for case in runs["case"].unique() for scheme in SCHEMES}
table = pd.Series({key: found.value for key, found in ratio.items()}).unstack().reindex(columns=SCHEMES)

# %% [markdown]
# ## 1. Fifteen answers
#
# A mark is the time over that of *mark: spray* on the same flows; its line is the 95% interval over the seeds of the
# case. Left of the grey line is faster. Runs of web search begin with the flows that two shared links keep in progress,
# which are not counted. Marks, trimming and spraying keep about as many; blocks of 32 keep more, and began with 0.69 of
# theirs at load 0.6, one path with 0.77: their marks stand too far left there.

# %% mystnb={"image": {"alt": "ratios by scheme in six panels; trim, mark, learn paths is ahead in most"}}
PANELS = {
    "links that lose nothing": ["permutation, 2 MB", "permutation, 16 MB", "permutation, 8-packet ports"],
    "a link slow or down": ["one slow link", "eight slow links", "one link fails"],
    "incasts and collectives": [
        *("incast, 127 x 64 KB", "incast, 15 x 2 MB"),
        *("ring all-reduce", "ring all-reduce, three times", "all-to-all"),
    ],
    "web search": [
        *("web search, load 0.3", "web search, load 0.6", "incasts beside web search"),
    ],
    "links that lose packets": ["loss 1e-5", "loss 1e-4", "loss 1e-3", "loss 1e-2", "loss 1e-3 in bursts of 8"],
    "two sites": [
        *("two sites", "two sites, loss 1e-4", "two sites, loss 1e-3", "two sites 10 ms apart, loss 1e-3"),
    ],
}
MARKS = "osD^vP"
figure, axes = plt.subplots(1, 6, figsize=(15, 7.4), layout="constrained", sharey=True)
for panel, (title, cases) in zip(axes, PANELS.items(), strict=True):
    for number, case in enumerate(cases):
        places = [-place + 0.12 * ((len(cases) - 1) / 2 - number) for place in range(len(SCHEMES))]
        values = [ratio[case, name] for name in SCHEMES]
        ends = [[one.value - one.low for one in values], [one.high - one.value for one in values]]
        middle = [one.value for one in values]
        style = {"fmt": MARKS[number], "color": f"C{number}", "markersize": 4, "linewidth": 0.8}
        panel.errorbar(middle, places, xerr=ends, label=case, **style)
    panel.axvline(1, color="0.6", linewidth=1)
    panel.set(xscale="log", title=title)
    panel.xaxis.set_major_locator(LogLocator(subs=(1,) if title == "two sites" else (1, 2, 5)))
    panel.xaxis.set_major_formatter("{x:g}")
    panel.minorticks_off()
    panel.grid(axis="y", color="0.92")
    panel.legend(frameon=False, fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.06))
axes[0].set_yticks([-number for number in range(len(SCHEMES))], SCHEMES)
figure.supxlabel("time over that of mark: spray", fontsize=10)
plt.show()

# %%
table.round(2).T

# %% [markdown]
# How well these ratios are known: each case has four seeds, load 0.6 and incasts beside web search three. The width is
# half of the interval, of the scheme that is known worst and of the one in the middle.

# %%
half = pd.Series({key: np.sqrt(found.high / found.low) - 1 for key, found in ratio.items()})
half = half.drop(REFERENCE, level=1)
by_case = half.groupby(level=0, sort=False)
pairs = runs[runs["scheme"] != REFERENCE].groupby(["case", "scheme"]).size().groupby(level=0)
known = pd.DataFrame(
    {
        "pairs": pairs.min(),
        "widest, %": 100 * by_case.max(),
        "of": by_case.idxmax().str[1],
        "middle, %": 100 * by_case.median(),
    }
).reindex(runs["case"].unique())
known.round(1)

# %% [markdown]
# * **A first window of one round trip halves the time of a ring.** A step of it has 31 packets for each host; who may
#   send them at once takes half the time, whatever else the scheme does: NDP, the Ultra-Ethernet-like scheme, pFabric,
#   and *mark: spray* itself with that window. Of three rings in turn, in which hosts get out of step, it takes 0.4.
#   Between sites, where it is the whole flow, it takes a tenth of the time or less. In permutations, whose flows are
#   longer, that window is worth 4% at most, and where 127 hosts send to one it costs half as much again.
# * **Trimming alone is worth 3 to 16%** where links lose nothing, but for few long flows to one receiver and for rings
#   in turn. In permutations it is worth 11 to 37% with pulls, and 25 to 44% with marks and learned paths. With ports of
#   only 8 packets both take at most 3% longer than with those of the profile, the reference 10%: trimming saves
#   buffers.
# * **Deep buffers do as well as trimming, but for the timer.** Over ports that drop and hold five round trips, the
#   Ultra-Ethernet-like scheme takes the same time within 1% in permutations and rings, and no longer in all-to-all.
#   With ports of 8 packets it takes three times as long, and with 127 senders to one a third longer. Where links lose
#   one packet in a thousand it takes more than twice as long: the timer that finds these losses is that of deeper
#   ports.
# * **Delays add little to marks.** With windows by marks alone that scheme takes 0.9 to 1.05 times as long, but for a
#   loss of 1e-2, where it takes 1.1 times as long.
# * **Where a link is slow or fails**, the Ultra-Ethernet-like scheme takes a third to four tenths of the time, with
#   eight slow links a sixth, and DCTCP with REPS 0.6 to 0.7: both learn. NDP, which does not, takes 0.43 beside one
#   slow link and 0.27 beside eight, since its receivers pull what was trimmed there, and 0.88 where a link fails.
#   Spraying alone is behind one path for each flow, which takes less than half of its time where eight links are slow.
# * **Shortest flow first** (pFabric), with a first window of a round trip as NDP has, takes 0.6 to 0.9 of the time in
#   permutations and beside slow links, 0.6 where 127 hosts send to one, and 0.5 to 0.6 in web search. It has to know
#   how much is left of a flow, which none of the others asks.
# * **Marks on one path and copies take 1.04 to 1.8 times as long** where links are equal, flowlets that move up to 2.3
#   times; in three rings in turn no difference is seen. Only in an incast is one of them ahead, by 9% at most. In web
#   search spraying needs marks: without them it takes 1.1 to 1.4 times as long.
# * **In web search short flows gain nothing by trimming.** All flows of the Ultra-Ethernet-like scheme take 0.75 to 0.9
#   of the time, since the largest begin with more packets; its short flows at load 0.6 have a mean slowdown of 2.07,
#   those of the reference 1.95.
# * **Do not code against congestion, with one exception.** In web search blocks of 32 take 1.4 to 1.8 times as long,
#   and CDCPS, which does not slow down, four to five times. In permutations, where the fabric has room for all repair
#   packets, blocks take 0.8 of the time: what comes late is decoded from the rest, and no sender takes it for lost.
# * **Code where links lose packets.** At a loss of 1e-3 blocks take 0.7 of the time. NDP takes 2.6 times as long: a
#   packet that is lost whole leaves no header, so that its sender waits for a timer of 1 ms. The Ultra-Ethernet-like
#   scheme has a timer of 0.1 ms and does not slow down for losses: it is ahead of all codes within a data centre. At
#   1e-2 eight repair packets for 32 save next to nothing: each loss that is left still halves a window. Losses that
#   come in bursts, each of them for the time of eight packets, change little, but CDCPS falls behind.
# * **Between sites with losses of 1e-3**, codes take 0.2 to 0.4 of the reference's time. But there the first window is
#   worth more than any code: with one of a round trip the reference itself takes 0.06, and pulls, which begin with one,
#   0.1. That is how long links have to be used, and it takes an empty network. The Ultra-Ethernet-like scheme begins
#   with such a window too, but its timer is that of six full queues, which hold a round trip each: 0.12 s where sites
#   are 10 ms apart. All flows have that timer, those within a pod too, and what it gains by the window it loses again.

# %% [markdown]
# ## 2. From which loss on a code is faster
#
# A message alone, whose lost packets are sent again after a time $T$ (the round trip, or a timer), or which is sent
# in blocks of $k$ with $r$ repair packets and repeats what these do not cover. With little loss the repair packets
# cost more time than they save. `coding_pays_from` gives the loss $p^*$ where both take the same mean time; it is
# infinite where the code is never faster.

# %% mystnb={"image": {"alt": "p* falls with the time until repetition, to 1e-6 and less at 100 ms"}}
repeat_s = np.geomspace(10e-6, 100e-3, 17)
PACKET_S = 4150 * 8 / 100e9
pays = {}
figure, axes = plt.subplots(figsize=(8, 4.4), layout="constrained")
for packets, color in ((64, "C0"), (512, "C1"), (4096, "C2")):
    for r, line in ((2, "--"), (8, "-")):
        pays[packets, r] = cm.coding_pays_from(packets, k=32, r=r, packet_s=PACKET_S, repeat_s=repeat_s)
        axes.plot(1e3 * repeat_s, pays[packets, r], line, color=color, label=f"{packets} packets, 32 + {r}")
axes.set(xscale="log", yscale="log", xlabel="time until repetition, ms", ylabel="loss from which a code is faster, p*")
axes.set_title("Messages at 100 Gbit/s, packets of 4150 bytes")
axes.grid(color="0.92")
axes.legend(frameon=False, fontsize=8)
plt.show()

# %% [markdown]
# Within a rack, where a round trip takes 14 us, no loss that links have is enough for 512 packets. With a timer of 1
# ms it is one packet in $10^4$, between sites 10 ms apart one in $10^5$. Two repair packets for 32 pay earlier than
# eight. The formula knows nothing of windows: the simulated senders of section 1 also slow down for each loss that
# the code does not cover, which is why there a code is worth more.

# %% [markdown]
# ## 3. At 400 Gbit/s
#
# The same cases and schemes with the profile of 400 Gbit/s (`data/studies/beyond_400g.toml`), each run once. Flows have
# the same bytes: one of 2 MB now lasts four round trips in place of thirteen. A mark is a case; below the grey line a
# scheme gains more at 400 Gbit/s than at 100.

# %% mystnb={"image": {"alt": "ratios at 400 over ratios at 100 Gbit/s; most of those below 1 are below the diagonal"}}
fast = pd.read_parquet(data_path("results/beyond_400g.3.parquet"))
fast["time"] = fast["mean_collective_s"].fillna(fast["mean_slowdown"])
times = fast.pivot(index="case", columns="scheme", values="time")
at_400 = times.div(times[REFERENCE], axis=0)
FASTER = {
    "mark: spray, first window of a round trip": "C0",
    "trim": "C1",
    "trim, receivers pull": "C2",
    "trim, mark, learn paths": "C3",
    "code: blocks of 32": "C4",
    "replicate": "C5",
}
kinds = zip(PANELS, MARKS, strict=False)
mark_of = {case: mark for title, mark in kinds for case in PANELS[title]}
figure, axes = plt.subplots(figsize=(7, 5.4), layout="constrained")
for scheme, color in FASTER.items():
    for case in table.index:
        axes.plot(table.loc[case, scheme], at_400.loc[case, scheme], mark_of[case], color=color, markersize=5)
    axes.plot([], [], "s", color=color, label=scheme)
for title in PANELS:
    axes.plot([], [], mark_of[PANELS[title][0]], color="0.5", label=title)
axes.plot([0.04, 4], [0.04, 4], color="0.6", linewidth=1)
axes.axvline(1, color="0.85", linewidth=1)
axes.axhline(1, color="0.85", linewidth=1)
axes.set(
    xscale="log", yscale="log", xlabel="time over that of mark: spray, 100 Gbit/s", ylabel="the same at 400 Gbit/s"
)
axes.legend(frameon=False, fontsize=7)
plt.show()

# %%
pd.concat({"100": table, "400": at_400.reindex(table.index)}, axis=1)[
    [(rate, scheme) for scheme in FASTER for rate in ("100", "400")]
].round(2)

# %% [markdown]
# **The faster the links, the more the first round trip decides.** With a first window of one round trip the reference
# takes 0.6 of its time in the permutation of 2 MB and 0.6 to 0.7 in web search, where it takes 0.8 to 1.0 at 100
# Gbit/s. What begins with such a window gains as much: the Ultra-Ethernet-like scheme takes 0.4 of the time in that
# permutation in place of 0.6. Trimming alone gains less, 2% in place of 12%, and blocks of 32 are behind in web search
# here too, by 39 and 72%. One run each says nothing of differences of a few per cent.

# %% [markdown]
# ## 4. One of these runs again
#
# Each row has the id of its run, which follows from the scenario. The cheapest run of all, made once more:

# %%
least = runs.loc[runs["cpu_s"].idxmin()]
design = load_study(data_path("studies/beyond.toml")).design
point = next(one for one in design.points() if dict(one) == {"case": least["case"], "scheme": least["scheme"]})
scenario = design.described(point).scenario.replace(seed=int(least["seed"]))
again = simulate(scenario)
print(point_name(point), "- the same id:", again.manifest["id"] == least["id"])

# %% [markdown]
# ## What this does not say
#
# Nothing about flow control of links (PFC), about schemes that need counters of switches (HPCC), or about more than
# one job at a time. The Ultra-Ethernet-like scheme has no credits of receivers and no probes, and acknowledges each
# packet. Flows are drawn at random as often as the table of section 1 says, and the intervals say how much that
# matters; of web search 3000 flows are counted. That the simulator agrees with the public htsim on such flows, within
# 2%, is shown in the documentation, *capsim against htsim*.
#
# ## Exercises
#
# 1. Which scheme has the largest ratio between its slowest and its fastest case, over the reference?
# 2. How many packets of a hundred does each scheme with trimming trim in the incast of 127 senders?
# 3. What does $p^*$ become for 512 packets if one repair packet protects 32?
#
# The next cell, which is folded, has solutions.

# %% jupyter={"source_hidden": true, "outputs_hidden": true} tags=["hide-cell"]
# 1. Over all cases.
spread = table.max() / table.min()
print(f"1. {spread.idxmax()}, {spread.max():.0f} times")

# 2. Means over the seeds.
incast = runs[runs["case"] == "incast, 127 x 64 KB"].groupby("scheme")["trimmed_ratio"].mean()
print("2.", (100 * incast[incast > 0]).round().to_dict())

# 3. Before, with eight: see above.
single = cm.coding_pays_from(512, k=32, r=1, packet_s=PACKET_S, repeat_s=[1e-3, 10e-3])
print("3.", [f"{one:.1g}" for one in single])
assert np.all(single < cm.coding_pays_from(512, k=32, r=8, packet_s=PACKET_S, repeat_s=[1e-3, 10e-3]))

# %%
# The text of this notebook, asserted.
LOSSLESS, WEB = PANELS["links that lose nothing"], PANELS["web search"]
MIXED = [*PANELS["incasts and collectives"], *WEB]
FIRST = "mark: spray, first window of a round trip"
UET, NDP, BLOCKS = "trim, mark, learn paths", "trim, receivers pull", "code: blocks of 32"
assert table.loc["ring all-reduce", [FIRST, UET, NDP, "priority: pFabric"]].between(0.49, 0.51).all()
assert table.loc["ring all-reduce, three times", [FIRST, UET, NDP, "priority: pFabric"]].between(0.35, 0.42).all()
assert table.loc[PANELS["two sites"], FIRST].between(0.05, 0.1).all()
assert 1.4 < table.loc["incast, 127 x 64 KB", FIRST] < 1.5
assert table.loc[LOSSLESS, FIRST].between(0.96, 1.01).all()
DROP, MARKS_ALONE = "drop, mark, learn paths", "trim, marks alone, learn paths"
over_trim = table[DROP] / table[UET]
assert over_trim[["permutation, 2 MB", "permutation, 16 MB", "ring all-reduce"]].between(0.99, 1.01).all()
assert 0.93 < over_trim["all-to-all"] < 1
assert 2.8 < over_trim["permutation, 8-packet ports"] < 3.2
assert 1.28 < over_trim["incast, 127 x 64 KB"] < 1.38
assert 2.2 < over_trim["loss 1e-3"] < 2.6
by_marks = table[MARKS_ALONE] / table[UET]
assert by_marks.drop("loss 1e-2").between(0.9, 1.05).all()
assert 1.05 < by_marks["loss 1e-2"] < 1.15
rings = "ring all-reduce, three times"
alone = table.loc[[*LOSSLESS, *MIXED], "trim"].drop(["incast, 15 x 2 MB", rings])
assert alone.between(0.84, 0.98).all()
assert table.loc[LOSSLESS, UET].between(0.55, 0.76).all()
assert table.loc[LOSSLESS, NDP].between(0.63, 0.89).all()
slowdown = runs.groupby(["case", "scheme"])["time"].mean().unstack()
longer = slowdown.loc["permutation, 8-packet ports"] / slowdown.loc["permutation, 2 MB"]
assert longer[[UET, NDP]].between(1, 1.035).all()
assert 1.09 < longer[REFERENCE] < 1.12
assert (table.loc["permutation, 8-packet ports", [UET, NDP]] < table.loc["permutation, 2 MB", [UET, NDP]]).all()
learned = table.loc[PANELS["a link slow or down"]]
assert learned[UET].drop("eight slow links").between(0.33, 0.42).all()
assert 0.155 < learned.loc["eight slow links", UET] < 0.175
assert np.allclose(learned[NDP], [0.43, 0.27, 0.88], atol=0.01)
assert 0.4 < learned.loc["eight slow links", "mark: one path"] < 0.5
assert learned["mark: learn paths"].between(0.6, 0.75).all()
assert (learned["mark: one path"] < learned[["spray", REFERENCE]].min(axis=1)).all()
behind = table.loc[[*LOSSLESS, *MIXED], ["mark: one path", "replicate"]]
incasts = ["incast, 127 x 64 KB", "incast, 15 x 2 MB"]
PFABRIC = "priority: pFabric"
assert table.loc[[*LOSSLESS, *PANELS["a link slow or down"]], PFABRIC].between(0.57, 0.88).all()
assert 0.55 < table.loc["incast, 127 x 64 KB", PFABRIC] < 0.6
assert behind.drop([*incasts, rings]).stack().between(1.04, 1.8).all()
flowlets = table.loc[[*LOSSLESS, *MIXED], "mark: flowlets move"]
assert flowlets.drop([*incasts, rings]).between(1.04, 2.25).all()
assert all(ratio[rings, name].low < 1 < ratio[rings, name].high for name in [*behind, "mark: flowlets move"])
assert table.loc[incasts, ["mark: one path", "mark: flowlets move", "replicate"]].min(axis=None) > 0.91
web = table.loc[WEB]
assert web[BLOCKS].between(1.4, 1.8).all()
assert web["code: all flows"].between(3.8, 5.2).all()
assert table.loc[WEB, "spray"].between(1.1, 1.4).all()
assert table.loc[["permutation, 2 MB", "permutation, 8-packet ports"], BLOCKS].between(0.78, 0.82).all()
assert 0.7 < table.loc["loss 1e-3", BLOCKS] < 0.75
assert 2.5 < table.loc["loss 1e-3", NDP] < 2.8
lossy = table.loc[PANELS["links that lose packets"]]
assert (lossy[UET] < lossy[[BLOCKS, "code: all flows"]].min(axis=1)).all()
assert 0.97 < table.loc["loss 1e-2", BLOCKS] < 1.03
in_bursts = (table.loc["loss 1e-3 in bursts of 8"] / table.loc["loss 1e-3"]).drop("code: all flows")
assert in_bursts.between(0.85, 1.12).all()
assert table.loc["loss 1e-3 in bursts of 8", "code: all flows"] > 1.3
far_apart = "two sites 10 ms apart, loss 1e-3"
assert table.loc[["two sites, loss 1e-3", far_apart], [BLOCKS, "code: all flows"]].stack().between(0.2, 0.45).all()
assert ratio[far_apart, UET].low < 1 < ratio[far_apart, UET].high
of_far = design.described(next(p for p in design.points() if dict(p) == {"case": far_apart, "scheme": UET})).scenario
assert round(of_far.params["transport"]["min_rto_s"], 2) == 0.12
assert table.loc["two sites, loss 1e-3", FIRST] < 0.07
assert 0.08 < table.loc["two sites, loss 1e-3", NDP] < 0.12
in_rack = cm.coding_pays_from(512, k=32, r=8, packet_s=PACKET_S, repeat_s=[14e-6, 1e-3, 10e-3])
assert np.isinf(in_rack[0])
assert 5e-5 < in_rack[1] < 2e-4
assert 5e-6 < in_rack[2] < 2e-5
assert again.manifest["id"] == least["id"]
FEW = ["permutation, 2 MB", "web search, load 0.3", "web search, load 0.6"]
assert at_400.loc[FEW, FIRST].between(0.58, 0.72).all()
assert table.loc[FEW, FIRST].between(0.8, 1).all()
assert 0.39 < at_400.loc["permutation, 2 MB", UET] < 0.41
assert 0.6 < table.loc["permutation, 2 MB", UET] < 0.62
assert np.allclose([one.loc["permutation, 2 MB", "trim"] for one in (at_400, table)], [0.98, 0.88], atol=0.005)
assert np.allclose(at_400.loc[FEW[1:], BLOCKS], [1.39, 1.72], atol=0.005)
short = runs[runs["case"] == "web search, load 0.6"].groupby("scheme")["mean_slowdown_short"].mean()
assert np.allclose(short[[UET, REFERENCE]], [2.07, 1.95], atol=0.005)
assert table.loc[WEB, UET].between(0.75, 0.9).all()
assert table.loc[WEB, PFABRIC].between(0.45, 0.6).all()
FINDINGS = " ".join(Path("../docs/findings.md").read_text(encoding="utf-8").split())
for case, scheme in (
    *(("permutation, 2 MB", name) for name in (UET, NDP, "trim", BLOCKS)),
    *((case, BLOCKS) for case in ("web search, load 0.6", "loss 1e-3")),
    *((case, UET) for case in ("one slow link", "eight slow links", "loss 1e-3")),
    *((case, NDP) for case in ("one slow link", "loss 1e-3")),
):
    found = ratio[case, scheme]
    assert f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]" in FINDINGS, (case, scheme)
