# %% [markdown]
# # Reordering and duplicate-ACK thresholds
#
# In notebook 3 a flow, or each of its copies, stayed on one path. Spraying chooses a path for each packet. Then no flow
# has all its packets behind one long flow, but its packets overtake each other. TCP answers each packet that comes out
# of order with a *duplicate ACK* (acknowledgement) and after three of them treats the missing packet as lost.
#
# How likely is it that a flow of $S$ packets is reordered? Each packet takes a congested path with probability
# $P_b$, an uncongested one with $P_g = 1-P_b$, and packets on uncongested paths overtake all earlier ones on congested
# paths. Eq. 1 of CDCPS (coding-based distributed congestion-aware packet spraying) sums over the first packet that is
# overtaken; the sum has a closed form, because the order is kept only if all packets on uncongested paths are sent
# first:
#
# $$P_r = \sum_{i=1}^{S-1}P_g^{i-1}P_b(1-P_b^{S-i}) = 1-\sum_{a=0}^{S}P_g^aP_b^{S-a}$$

# %% [markdown]
# **After this notebook** you can compute how likely a sprayed flow is reordered and how many duplicate ACKs follow, and
# choose a duplicate-ACK threshold for a fabric. It runs in about 2 s on two cores.

# %% mystnb={"image": {"alt": "reordering probability over congested paths: a hump with its top at half of them"}}
import numpy as np
from matplotlib import pyplot as plt

import capsmodel as cm
from capsmodel.reordering.dup_acks import dup_ack_threshold_fat_tree, dup_ack_threshold_leaf_spine, duplicate_acks_prob
from capsmodel.reordering.probability import out_of_order_degree

n_b = np.arange(0, 41)
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for size in (2, 3, 5, 10, 20, 100):
    axes.plot(n_b, cm.reordering_prob(size, congested_prob=n_b / 40), label=f"S = {size}")
axes.set(xlabel="congested paths of 40", ylabel="probability $P_r$ that a flow is reordered")
axes.legend(frameon=False, ncols=2)
plt.show()

# %% [markdown]
# The probability is largest when half of the paths are congested, and a flow of 20 packets is then almost certainly
# reordered. How bad that is depends on *how many* packets overtake: after three duplicate ACKs the sender retransmits a
# packet that was not lost.

# %% mystnb={"image": {"alt": "probability of 1, 3 and 19 duplicate ACKs rises with the flow size"}}
sizes = np.arange(1, 101)
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for dup_acks in (1, 3, 19):
    axes.plot(
        sizes, duplicate_acks_prob(dup_acks, flow_packets=sizes, congested_prob=0.25), label=f"at least {dup_acks}"
    )
axes.set(xlabel="flow size, packets", ylabel="probability", title="Duplicate ACKs of a flow, $P_b$ = 0.25")
axes.legend(frameon=False)
plt.show()

# %% [markdown]
# MMPTCP (maximum multipath TCP) raises the threshold to three plus the number of equal-cost paths. That helps short
# flows, but more losses are then repaired only by a timeout: a flow with fewer packets in flight than the threshold
# cannot cause that many duplicate ACKs. Notebook 12 counts overtaken packets in the simulator. The next notebook gives
# every path its own window instead.

# %%
for pods in (4, 8, 16):
    inside, across = (dup_ack_threshold_fat_tree(pods, location=place) for place in ("aggregation", "core"))
    print(f"{pods}-ary fat-tree: {inside:.0f} inside a pod, {across:.0f} across pods")
print(f"leaf-spine with 16 spines: {dup_ack_threshold_leaf_spine(16):.0f}")

# %% [markdown]
# ## Exercises
#
# 1. Two packets, half of the paths congested: in which single case are they reordered? Compare with the formula.
# 2. A flow has 10 packets and $P_b=0.25$. By how much does the threshold of MMPTCP for eight pods, 19, reduce the
#    probability of a spurious retransmission, compared with 3?
# 3. Among how many congested paths of 40 is a flow of 5 packets reordered with a probability of less than 10%?
#
# The next cell, which is folded, has solutions.

# %% jupyter={"source_hidden": true, "outputs_hidden": true} tags=["hide-cell"]
# 1. Only if the first takes a congested path and the second does not: 1/2 * 1/2.
print(f"1. {cm.reordering_prob(2, congested_prob=0.5)}")

# 2. A flow of 10 packets cannot cause 19 duplicate ACKs.
by_3, by_19 = (duplicate_acks_prob(n, flow_packets=10, congested_prob=0.25) for n in (3, 19))
print(f"2. with threshold 3: {by_3:.3f}, with 19: {by_19:.3f}")

# 3. The probability is symmetric: few congested paths, or few uncongested ones.
seldom = n_b[cm.reordering_prob(5, congested_prob=n_b / 40) < 0.1]
print(f"3. {seldom}")
assert cm.reordering_prob(2, congested_prob=0.5) == 0.25
assert by_19 == 0 < by_3
assert np.array_equal(seldom, 40 - seldom[::-1])

# %%
# The text of this notebook, asserted.
for size in (2, 5, 10, 20):
    assert n_b[np.argmax(cm.reordering_prob(size, congested_prob=n_b / 40))] == 20
assert cm.reordering_prob(20, congested_prob=0.5) > 0.9999
assert cm.reordering_prob(2, congested_prob=0.5) == 0.25
assert dup_ack_threshold_leaf_spine(16) == dup_ack_threshold_fat_tree(8) == 19
assert out_of_order_degree([1, 2, 3, 4, 5, 6, 8, 7, 9, 10]) == 1  # CDCPS Fig. 2, left
P_G, P_B, i = 0.75, 0.25, np.arange(1, 10)
printed = np.sum(P_G ** (i - 1) * P_B * (1 - P_B ** (10 - i)))
assert abs(printed - cm.reordering_prob(10, congested_prob=P_B)) < 1e-14
assert np.all(np.diff(duplicate_acks_prob(3, flow_packets=sizes, congested_prob=0.25)) >= 0)
