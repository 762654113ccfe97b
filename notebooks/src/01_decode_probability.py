# %% [markdown]
# # When does a coding unit decode?
#
# Between two servers of a data centre there are many paths of equal length. Most flows are short and should be over
# soon; a few long ones carry most of the bytes and keep queues full. A short flow that stays on one path may wait
# behind a long one. If its packets are sprayed over all paths, only some of them wait, but these come late and out of
# order, and the flow is not complete without them. Five papers propose remedies. CAPS (coding-based adaptive packet
# spraying) and CDCPS (coding-based distributed congestion-aware packet spraying) *code* the packets, so that any $k$ of
# $k+r$ are enough and the late ones are not needed. RepFlow (replicated flows) sends a short flow *twice*. MMPTCP
# (maximum multipath TCP) sprays a flow while it is short, waits *longer* before it treats a late packet as lost, and
# gives a long flow several windows. DC2-MTCP (data center coded multi-path TCP) adds a few coded packets to such
# windows.
#
# Twenty notebooks explain the ideas; each builds on the ones before. This is the first. It shows how likely a coded
# unit of packets decodes, how many repair packets that takes, and what they cost.
#
# **After this notebook** you can compute the probability that a unit decodes, choose the number of repair packets by
# the mean or by a probability, and say why the two differ so much. It runs in about 3 s on two cores.
#
# **Formulas**
#
# 1. When does a coding unit decode?
# 2. [The best coding unit, and a discrepancy](02_optimal_coding_unit.ipynb): how large a unit should be
# 3. [Queueing and flow completion time](03_queueing_and_fct.ipynb): how long a packet waits, what two copies save
# 4. [Reordering and duplicate-ACK thresholds](04_reordering.ipynb) (ACK: acknowledgement)
# 5. [Redundancy for multipath connections](05_multipath_redundancy.ipynb): several windows, losses, timeouts
# 6. [What "any k of n" costs in real codes](06_real_codes.ipynb)
#
# **Packets**: the same questions, answered by simulation
#
# 7. [A first simulation](07_first_simulation.ipynb): a fabric, flows, and what a run tells
# 8. [Coding units, sent](08_units_in_packets.ipynb)
# 9. [The best coding unit, in packets](09_optimal_unit_in_packets.ipynb)
# 10. [Waiting for a unit, and what coding costs](10_buffering_and_overhead.ipynb)
# 11. [Queues and replication, in packets](11_queues_and_replication.ipynb)
# 12. [Reordering in packets](12_reordering_in_packets.ipynb)
# 13. [Multipath windows, in packets](13_multipath_windows.ipynb)
# 14. [Estimating the blocking probability](14_estimating_blocking.ipynb)
#
# **To judge and to use**
#
# 15. [What stands, and what does not follow](15_what_does_not_follow.ipynb): verdicts, and errors of the papers
# 16. [The optimal-unit calculator](16_calculator.ipynb): sliders for your own fabric
# 17. [A scheme of your own](17_own_scheme.ipynb)
# 18. [Loss without a timeout: coding across subflows](18_coding_across_subflows.ipynb)
# 19. [Who moves first: switches that look at queues](19_switches_that_look_at_queues.ipynb)
# 20. [All schemes on one fabric](20_all_schemes.ipynb): who is ahead where, and why
#
# Each has exercises with solutions and ends in a cell that asserts the statements of its text.

# %% [markdown]
# ## One unit
#
# CAPS sends the $k$ source packets of a short flow as $n = k + r$ coded packets over all paths. A packet that
# takes a path with a long flow comes too late to count: it is [*blocked*](../docs/glossary.md). The *blocking
# probability* is $p_B$, say 0.2 when 8 of 40 paths have one. The unit decodes at once when at most $r$ of its packets
# are blocked, with the *decoding probability* $p_S$:
#
# $$p_S = \sum_{j=0}^{r}\binom{k+r}{j}p_B^j(1-p_B)^{k+r-j} = I_{1-p_B}(k, r+1)\qquad\text{(CAPS Eq. 2, CDCPS Eq. 7)}$$

# %%
import numpy as np
from matplotlib import pyplot as plt

import capsmodel as cm

# %% [markdown]
# ## How many repair packets?
#
# CAPS sends $r=\lceil k p_B/(1-p_B)\rceil$, so that $k$ packets are unblocked *on average*. The ceiling has to be taken
# in exact arithmetic: for $k=21$, $p_B=0.3$ the answer is 9, while double precision gives 10.

# %% mystnb={"image": {"alt": "repair packets over k rise in steps; decoding probability falls in a sawtooth to 1/2"}}
naive = np.ceil(21 / (1 - 0.3) - 21)
print(f"exact {cm.repair_packets(21, blocking_prob=0.3):.0f}, naive {naive:.0f}")

k = np.arange(1, 65)
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
for p in (0.1, 0.2, 0.3):
    r = cm.repair_packets(k, blocking_prob=p)
    left.plot(k, r, label=f"$p_B$ = {p}")
    right.plot(k, cm.decode_prob(k, r=r, blocking_prob=p))
left.set(xlabel="source packets k", ylabel="repair packets r")
right.set(xlabel="source packets k", ylabel="decoding probability $p_S$ with that r", ylim=(0.4, 1))
left.legend(frameon=False)
plt.show()

# %% [markdown]
# On average only slightly more than $k$ packets are unblocked, so $p_S$ is close to one half for large units: nearly
# every second unit has to wait for a blocked packet. The curve is a sawtooth: each time the rule rounds up, the unit
# has one more repair packet than the mean requires, and $p_S$ rises.

# %%
r = cm.repair_packets(k, blocking_prob=0.2)
p_s = cm.decode_prob(k, r=r, blocking_prob=0.2)
rises = np.flatnonzero(np.diff(p_s) > 0)
print(f"p_S rises at {rises.size} of {k.size - 1} steps; at k = 64 it is {p_s[-1]:.3f}")

# %% [markdown]
# ## A few packets more
#
# If a unit should decode with a given probability, and not only on average, a few more packets are needed: for $k = 10$
# and $p_B = 0.2$ a probability of 99% takes eight repair packets, where the mean rule sends three. The failure
# probability is computed directly and not as $1 - p_S$, so that it keeps all digits when it is tiny.

# %% mystnb={"image": {"alt": "failure probability falls by orders of magnitude with each few repair packets"}}
extra = np.arange(0, 21)
figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
for n_long in (2, 4, 8):
    axes.semilogy(
        extra, cm.decode_failure_prob(10, r=extra, blocking_prob=n_long / 40), "o-", label=f"{n_long} of 40 paths"
    )
axes.set(
    xlabel="repair packets r of a unit with k = 10", ylabel="failure probability $1 - p_S$", xticks=range(0, 21, 4)
)
axes.legend(frameon=False)
plt.show()

target = cm.repair_packets_for(10, blocking_prob=0.2, target_prob=0.99)
print(f"k = 10, p_B = 0.2: the mean rule sends {cm.repair_packets(10, blocking_prob=0.2):.0f}, 99% needs {target:.0f}")

# %% [markdown]
# ## Codes that need more than k packets
#
# Eq. 2 assumes that any $k$ packets decode. With a dense random linear code over GF($q$), the finite field of $q$
# elements, the received packets may be linearly dependent. For large $q$ this happens to exactly $k$ received packets
# with probability about $1/(q-1)$: 0.4% over GF(256). For small $q$ it is far from that; over GF(2) it is 71%. Codes
# for which any $k$ packets suffice are called MDS (maximum distance separable).

# %%
for q in (2, 16, 256):
    full = cm.full_rank_prob(10, received=10, field_size=q)
    mds = cm.decode_prob(10, r=5, blocking_prob=0.2)
    whole = cm.decode_prob_rlnc(10, r=5, blocking_prob=0.2, field_size=q)
    print(f"GF({q}): full rank {full:.4f}, unit decodes {whole:.4f} (MDS {mds:.4f})")

# %% [markdown]
# ## What the coding costs
#
# Eq. 7 gives the share of repair packets in all traffic when there are $g$ packets of long flows for each packet of a
# short one. The text of CAPS says that the overhead grows with $g$; the formula says that it falls. The dotted line is
# the 5% below which, as the paper says, the overhead stays.
#
# So far $k$ was given. Notebook 2 chooses it.

# %% mystnb={"image": {"alt": "overhead over g: three falling curves, the highest for the largest $p_B$"}}
g = np.linspace(9, 99, 91)
figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
for p in (0.1, 0.2, 0.35):
    axes.plot(g, 100 * cm.traffic_overhead(p, long_short_ratio=g), label=f"$p_B$ = {p}")
axes.axhline(5, color="grey", linestyle=":", label="5%, printed as the limit")
axes.set(xlabel="packets of long flows for each packet of a short one, g", ylabel="repair packets in all traffic, %")
axes.legend(frameon=False)
plt.show()

# %% [markdown]
# ## Exercises
#
# 1. Compute $p_S$ for $k=2$, $r=1$ and $p_B=0.2$ by hand, from the three cases in which at most one packet is blocked,
#    and compare with `cm.decode_prob`.
# 2. A window consists of four units of $k=16$ with $p_B=0.2$. How many repair packets does each unit need so that *all
#    four* decode with probability 0.99?
# 3. With $r$ from the mean rule, does $p_S$ ever fall below one half?
#
# The next cell, which is folded, has solutions.

# %% jupyter={"source_hidden": true, "outputs_hidden": true} tags=["hide-cell"]
# 1. No packet blocked, 0.8^3, or exactly one of the three, 3 * 0.2 * 0.8^2.
by_hand = 0.8**3 + 3 * 0.2 * 0.8**2
print(f"1. {by_hand:.3f}, {cm.decode_prob(2, r=1, blocking_prob=0.2):.3f}")

# 2. Units decode independently, so each one needs the fourth root of 0.99.
each = cm.repair_packets_for(16, blocking_prob=0.2, target_prob=0.99 ** (1 / 4))
all_four = cm.decode_prob(16, r=each, blocking_prob=0.2) ** 4
print(f"2. {each:.0f} repair packets a unit: all four decode with probability {all_four:.4f}")

# 3. No: the rule makes the mean at least k, and the median of a binomial distribution is its mean, rounded up or down.
least = min(cm.decode_prob(k, r=cm.repair_packets(k, blocking_prob=p), blocking_prob=p).min() for p in (0.05, 0.2, 0.4))
print(f"3. smallest p_S found: {least:.3f}")
assert abs(by_hand - cm.decode_prob(2, r=1, blocking_prob=0.2)) < 1e-12
assert all_four >= 0.99 > cm.decode_prob(16, r=each - 1, blocking_prob=0.2) ** 4
assert least > 0.5

# %%
# The text of this notebook, asserted.
assert cm.repair_packets(21, blocking_prob=0.3) == 9
assert naive == 10
assert rises.size >= 10
assert abs(p_s[-1] - 0.5) < 0.1
assert 0.980 < cm.decode_prob(10, r=2, blocking_prob=2 / 40) < 0.981  # CAPS Fig. 6(b): "almost one"
assert 1 - cm.full_rank_prob(10, received=10) < 0.005
assert 0.70 < 1 - cm.full_rank_prob(10, received=10, field_size=2) < 0.72
assert cm.repair_packets(10, blocking_prob=0.2) == 3
assert target == 8
assert np.all(np.diff(cm.traffic_overhead(0.25, long_short_ratio=g)) < 0)
assert cm.traffic_overhead(0.35, long_short_ratio=9) > 0.05  # 5.1% at p_B = 0.35, where "below 5%" is printed
