# %% [markdown]
# # Unequal paths, bursts, deadlines
#
# **How many repair packets does a unit need where paths differ?** Real paths differ, lose packets in bursts, and
# deliver packets too late.
#
# **After this notebook** you can say which of your measurements decides about $k$ and $r$, derive why packets in round
# robin are better off than at random, and say what bursts and deadlines cost. It runs in about 15 s on one core.

# %%
from dataclasses import replace

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

import capsmodel as cm
from capsim.run.unequal_paths import sent_units
from capsmodel.symbolic import DERIVATIONS

# %% [markdown]
# ## Assumptions
#
# 1. Losses of packets are independent of each other.
# 2. All paths are alike, or a packet takes any of them at random.
# 3. A packet comes in time or never.
# 4. What is lost is not retransmitted.
#
# ## Derivation
#
# *Round robin varies less than chance.* Of $n$ packets $L$ are lost. In round robin packet $i$ has the loss probability
# $p_i$ of its path:

# %%
DERIVATIONS["round_robin"]()

# %% [markdown]
# *Bursts.* On a path with the loss probability $\pi$ a packet behind one that arrives is lost with probability $a$:

# %%
DERIVATIONS["loss_bursts"]()

# %% [markdown]
# ## Sixteen paths, one target
#
# Eight paths lose one packet in a thousand, one loses a tenth; the mean is 1.175%. At most one unit in a million may
# fail. For each $k$ the least $r$ follows, and the share of repair packets is a sawtooth.
#
# ## Formula and packets
#
# One unit in a million cannot be counted in seconds, but the distribution of $L$ can be: marks are units of 64 + 7 in
# packets.

# %% mystnb={"image": {"alt": "repair share over k, a sawtooth; losses of units: packets on both formulas"}}
paths = [0.001] * 8 + [0.005] * 4 + [0.02] * 3 + [0.1]
in_turn, at_random = (cm.PathLosses(paths, spread=spread) for spread in ("in-turn", "random"))
bursts, TARGET = replace(in_turn, burst_packets=3), 1e-6
sizes = np.arange(1, 129)
repair = {
    text: cm.repair_packets_for(sizes, losses=losses, failure_prob=TARGET)
    for text, losses in (("round robin", in_turn), ("at random", at_random))
}
best = cm.unit_corners(in_turn, failure_prob=TARGET, max_k=128)
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
for text, packets in repair.items():
    left.plot(sizes, 100 * packets / (sizes + packets), label=text)
left.plot(best.k[best.best], 100 * best.share[best.best], "o", color="C0", label="best pair (k, r)")
left.set(xlabel="source packets k", ylabel="repair packets, % of all", ylim=(0, 40))
law, sent = {}, {}
for text, losses, color in (("independent", in_turn, "C0"), ("bursts of 3", bursts, "C3")):
    law[text] = -np.diff(losses.failure_table(71, 71)[71], prepend=1.0)[:12]
    lost = np.concatenate([run.lost_packets for run in sent_units(64, r=7, losses=losses, units=12_000, seed=1)])
    sent[text] = np.bincount(lost, minlength=12)[:12] / len(lost)
    right.semilogy(law[text], color=color, label=f"{text}, formula")
    seen = sent[text] > 0
    right.semilogy(np.arange(12)[seen], sent[text][seen], "o", color=color, label=f"{text}, packets")
right.set(xlabel="packets lost of 71", ylabel="probability", ylim=(1e-5, 1), xlim=(-0.3, 11.3))
for axes in (left, right):
    axes.legend(frameon=False)
plt.show()
print(f"least share: k = {best.k[best.best]}, r = {best.r[best.best]}, {best.share[best.best]:.2%}")

# %% [markdown]
# *Left.* With each further source packet the share falls, until one more repair packet is needed. The lowest point of
# the sawtooth is the pair to take, 118 + 9. Round robin never needs more than a random choice. *Right.* The packets
# lie on both formulas. With the same mean loss, bursts leave more units whole, and those that lose six packets or
# more are a hundred times as many.
#
# ## Where assumption 1 fails: bursts
#
# The mean loss is the same in all rows. A unit has four or five packets on each path, which a burst may hit together.

# %%
rows = []
for burst in (1, 2, 3, 5, 10):
    losses = in_turn if burst == 1 else replace(in_turn, burst_packets=burst)
    needed = cm.repair_packets_for(64, losses=losses, failure_prob=TARGET)
    rows.append(
        {"burst": burst, "r for one in a million": needed, "64 + 7 fails": cm.unit_failure_prob(64, r=7, losses=losses)}
    )
of_bursts = pd.DataFrame(rows).set_index("burst")
train = cm.PathLosses(0.01, burst_packets=10)
apart = {depth: cm.unit_failure_prob(20, r=4, losses=replace(train, interleave=depth)) for depth in (1, 5, 24, 100)}
print("20 + 4 on a path of bursts of 10, by depth:", {depth: f"{prob:.1e}" for depth, prob in apart.items()})
of_bursts.style.format({"64 + 7 fails": "{:.1e}"})

# %% [markdown]
# Bursts of two packets double $r$, and of ten treble it. **Measure how long losses last, not only how many there are.**
# Interleaving sends packets of other units between those of one. For bursts of 10 the correlation $\lambda$ is 0.90: a
# depth of 5 leaves $\lambda^5=0.59$ and wins hardly anything, a depth of 24 leaves 0.08.
#
# ## Where assumptions 3 and 4 fail: a deadline, and a second transmission
#
# A packet that comes after the deadline is lost. Packets of a path share the delay of its queue and are late together.
# With time for up to five transmissions of a packet the code has less to do:

# %%
waits = [(20, 20)] * 8 + [(30, 30)] * 4 + [(40, 60)] * 3 + [(60, 150)]  # least delay and mean wait, µs
delay = [cm.PathDelay(least * 1e-6, cm.Exponential(mean * 1e-6)) for least, mean in waits]
late = {}
for deadline_us in (200, 300, 500, 1000):
    timed = replace(in_turn, delay=delay, packet_s=0.48e-6, deadline_s=deadline_us * 1e-6)
    late[deadline_us] = {
        text: cm.repair_packets_for(64, losses=replace(timed, delay_per=per), failure_prob=TARGET)
        for per, text in (("path", "r, delay of a path"), ("packet", "r, delays independent"))
    }
again = {}
for times in range(1, 6):
    r = cm.repair_packets_hybrid(64, losses=in_turn, failure_prob=TARGET, sendings=times)
    again[times] = {"r": r, "sent for each": cm.sent_per_source_packet(64, r=r, losses=in_turn, sendings=times)}
print(
    pd.DataFrame(late).T.rename_axis("deadline, µs"),
    pd.DataFrame(again).T.rename_axis("transmissions").round(3),
    sep="\n\n",
)

# %% [markdown]
# Independent delays of all packets are the optimistic model: it needs half as many repair packets as one in which a
# queue delays all packets of its path together. With five transmissions the code has nothing to do: 1.012 packets are
# sent for each source packet, in place of 1.109. So ask first how often a packet can be sent before its deadline; the
# [how-to](../docs/howto/choose_k_r.md) begins there.
#
# ## Exercises
#
# 1. *By hand.* One of 16 paths is dead, the others lose nothing. How many of 71 packets are lost in round robin, and
#    which $r$ covers that for certain?
# 2. *With packets.* Your losses are 1.5 times what you measured. How much more often does 64 + 3 fail? Compute it, then
#    send 6000 units (`sent_units`).
# 3. *Open.* Let the delay of a path change while a unit is sent. Write a model between the two columns of the
#    deadlines, draw units from it, and test it with `agreement`.

# %% jupyter={"source_hidden": true, "outputs_hidden": true} tags=["hide-cell"]
from capsmodel.experiments.agreement import Count, agreement

# 1. 71 = 4 * 16 + 7: seven paths have five packets, the others four.
dead = cm.PathLosses([0.0] * 16, spread="in-turn", down_paths=1)
tails = dead.failure_table(71, 6)[71]
covered = int(np.flatnonzero(tails == 0)[0])
print(f"1. four, or five with probability {tails[4]:.4f} = 7/16; r = {covered} is certain")

# 2. Losses of a unit are nearly Poisson, so that about r + 1 factors of 1.5 come together.
more = replace(in_turn, blocking_prob=1.5 * np.array(paths))
for losses in (in_turn, more):
    failed = np.concatenate([run.failed for run in sent_units(64, r=3, losses=losses, units=6000, seed=2)])
    prob = cm.unit_failure_prob(64, r=3, losses=losses)
    print("2.", agreement(prob, Count(successes=int(failed.sum()), trials=len(failed)), detect=0.02))

# 3. Two delays for each path, for the first and for the second half of a unit, are two units of half the size on paths
# of their own: the law of L is the convolution of two.
half = replace(in_turn, delay=delay, packet_s=0.48e-6, deadline_s=300e-6)
one = -np.diff(half.failure_table(36, 36)[36], prepend=1.0)
two = np.convolve(one, one)
rng = np.random.default_rng(1)
drawn = sum(36 - half.draw(36, 4000, rng).sum(axis=1) for _ in range(2))
print("3.", agreement(float(two[4:].sum()), Count(successes=int((drawn > 3).sum()), trials=4000), detect=0.05))

# %% jupyter={"source_hidden": true, "outputs_hidden": true} tags=["hide-cell"]
# The text of this notebook, asserted.
assert (best.k[best.best], best.r[best.best]) == (118, 9)
assert np.all(repair["round robin"] <= repair["at random"])
for text, prob in law.items():
    spread = np.sqrt(prob * (1 - prob) / 12_000)
    assert np.all(np.abs(sent[text] - prob) <= 5 * spread + 1 / 12_000)
assert 90 < law["bursts of 3"][6:].sum() / law["independent"][6:].sum() < 130
assert of_bursts["r for one in a million"].tolist() == [7, 14, 16, 19, 21]
assert apart[1] < 2 * apart[5]
assert apart[24] < 0.01 * apart[5]
assert [late[us]["r, delay of a path"] for us in (200, 1000)] == [30, 8]
assert (again[5]["r"], round(again[5]["sent for each"], 3)) == (0, 1.012)
