# %% [markdown]
# # Reordering and duplicate-ACK thresholds
#
# In notebook 3 a flow stayed on one path, or each copy on one. Spraying chooses a path for each packet: no flow waits
# behind a long one as a whole, but its packets overtake each other. TCP answers each packet that comes out of order
# with a *duplicate ACK* (acknowledgement) and after three of them treats the missing packet as lost.
#
# How likely is it that a flow of $S$ packets is reordered at all? Each packet takes a congested path with probability
# $P_b$, an uncongested one with $P_g = 1-P_b$, and packets on uncongested paths overtake all earlier ones on congested
# paths. Eq. 1 of CDCPS (coding-based distributed congestion-aware packet spraying) sums over the first packet that is
# overtaken; the sum has a closed form, because the order is kept only if all packets on uncongested paths are sent
# first:
#
# $$P_r = \sum_{i=1}^{S-1}P_g^{i-1}P_b(1-P_b^{S-i}) = 1-\sum_{a=0}^{S}P_g^aP_b^{S-a}$$

# %%
import numpy as np
from matplotlib import pyplot as plt

import capsmodel as cm
from capsmodel.reordering.dup_acks import dup_ack_threshold_fat_tree, dup_ack_threshold_leaf_spine, duplicate_acks_prob
from capsmodel.reordering.probability import out_of_order_degree

n_b = np.arange(0, 41)
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for size in (2, 3, 5, 10, 20, 100):
    axes.plot(n_b, cm.reordering_prob(size, congested_prob=n_b / 40), label=f"S = {size}")
axes.set(xlabel="congested paths of 40", ylabel="$P_r$")
axes.legend(frameon=False, ncols=2)
plt.show()

# %% [markdown]
# The probability is largest when half of the paths are congested, and a flow of 20 packets is then almost certainly
# reordered. The damage depends on *how many* packets overtake: three duplicate ACKs start a spurious retransmission.

# %%
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
# cannot cause that many duplicate ACKs. Notebook 11 counts overtaken packets in the simulator. The next notebook gives
# every path its own window instead.

# %%
for pods in (4, 8, 16):
    inside, across = (dup_ack_threshold_fat_tree(pods, location=place) for place in ("aggregation", "core"))
    print(f"{pods}-ary fat-tree: {inside:.0f} inside a pod, {across:.0f} across pods")
print(f"leaf-spine with 16 spines: {dup_ack_threshold_leaf_spine(16):.0f}")

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
