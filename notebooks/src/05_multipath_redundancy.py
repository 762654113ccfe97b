# %% [markdown]
# # Redundancy for multipath connections
#
# Spraying (notebook 4) uses all paths with one window. Multipath TCP has a *subflow* on each of a few paths, each with
# its own window $W_i$. LIA (linked increases algorithm, RFC 6356) couples them: together, $W_{total}$, they should take
# no more than one TCP on the best path. A packet lost on one subflow delays all later packets on the others, and with
# few packets on each subflow there are too few duplicate ACKs (acknowledgements) to detect the loss. DC2-MTCP (data
# center coded multi-path TCP) therefore adds a few coded packets to the original ones, enough to make up for the losses
# that its own congestion control causes. At equilibrium the growth of the windows balances their reduction by losses,
# so the loss rate follows from the windows. The paper prints a form that exceeds one; the consistent one, with LIA's
# $\alpha$, is
#
# $$p_i=\frac{2\alpha}{2\alpha+W_iW_{total}}$$

# %% [markdown]
# **After this notebook** you can compute the windows of coupled subflows, the share of coded packets that replaces the
# losses of a connection, and how likely a small window ends in a timeout. It runs in about 3 s on two cores.

# %%
import numpy as np
from matplotlib import pyplot as plt

import capsmodel as cm
from capsmodel.multipath.lia import lia_alpha, lia_equilibrium_windows, single_path_window

windows, rtts = np.array([10.0, 30.0]), np.array([1e-3, 1e-3])
alpha = lia_alpha(windows, rtts_s=rtts)
printed = 2 * alpha / (2 * alpha + windows[0]) * windows.sum()
print(f"alpha = {alpha:.3f}; the printed Eq. 7 gives a loss 'rate' of {printed:.2f}")
loss = cm.connection_loss_prob(windows, rtts_s=rtts)
print(f"consistent: connection loss {loss:.5f}, redundancy {cm.redundancy_ratio(loss):.5f} coded packets per packet")

# %% [markdown]
# ## Solved for the windows
#
# Given the losses and round-trip times, the same equation gives the windows. A path with ten times the loss has a
# smaller window, and all windows together are that of one TCP on the best path: Eq. 9 is an equality, not a bound.

# %% mystnb={"image": {"alt": "windows over the loss of path 2: its window falls, the total is that of one TCP"}}
second = np.geomspace(1e-4, 1e-1, 61)
losses = np.stack([np.full_like(second, 1e-3), second], axis=-1)
both = lia_equilibrium_windows(losses, rtts_s=np.array([1e-3, 1e-3]))
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.loglog(second, both[:, 0], label="path 1, loss 0.001")
axes.loglog(second, both[:, 1], label="path 2")
axes.loglog(second, both.sum(axis=-1), color="0.7", linewidth=4, label="connection")
axes.loglog(second, single_path_window(losses).max(axis=-1), "k:", label="one TCP on the better path")
axes.set(xlabel="loss probability of path 2", ylabel="window, packets")
axes.legend(frameon=False)
plt.show()

# %% [markdown]
# ## Small flows on many subflows
#
# With a window of a few packets a loss ends in a timeout, because too few duplicate ACKs come back. Eq. 6 counts only
# the case that at most two packets arrive. The exact probability also counts losses that too few packets follow. It is
# ten times as large for windows just above three packets and falls far more slowly. Notebook 13 measures windows and
# timeouts in simulations.

# %% mystnb={"image": {"alt": "timeout probability over the window: Eq. 6 falls steeply, the exact one slowly"}}
w = np.arange(1, 31)
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.semilogy(w, cm.timeout_prob(w, loss_prob=0.05), "o-", label="Eq. 6 as printed")
axes.semilogy(w, cm.timeout_prob(w, loss_prob=0.05, exact=True), "s-", label="exact")
axes.set(xlabel="window, packets", ylabel="probability of a timeout at a loss of 0.05", ylim=(1e-6, 1))
axes.legend(frameon=False)
plt.show()

# %% [markdown]
# ## Exercises
#
# 1. One path alone: show that the consistent equation gives $W=\sqrt{2(1-p)/p}$, and check it for $p=0.01$.
# 2. Sixteen packets are in flight, 5% are lost. Compare the probability of at least one timeout for one window of 16
#    and for four subflows of 4.
# 3. How many coded packets for 200 originals does a connection need on average whose loss is 2%?
#
# The next cell, which is folded, has solutions.

# %% jupyter={"source_hidden": true, "outputs_hidden": true} tags=["hide-cell"]
# 1. With one path alpha = 1 and W_total = W, so p = 2 / (2 + W^2).
print(f"1. W = {single_path_window(0.01):.3f}, sqrt(2 * 0.99 / 0.01) = {np.sqrt(198):.3f}")

# 2. A timeout occurs unless all four subflows avoid it.
one, four = cm.timeout_prob(16, loss_prob=0.05, exact=True), cm.timeout_prob(4, loss_prob=0.05, exact=True)
print(f"2. one window {one:.3f}, four subflows {1 - (1 - four) ** 4:.3f}")

# 3. p / (1 - p) for each original, and some of the coded packets are lost too.
print(f"3. {200 * cm.redundancy_ratio(0.02):.2f} coded packets")
assert abs(single_path_window(0.01) - np.sqrt(198)) < 1e-9
assert 1 - (1 - four) ** 4 > 2 * one
assert abs(200 * cm.redundancy_ratio(0.02) - 4.08) < 0.005

# %%
# The text of this notebook, asserted.
assert printed > 1
assert abs(cm.redundancy_ratio(loss) - loss / (1 - loss)) < 1e-15
assert np.allclose(both.sum(axis=-1), single_path_window(losses).max(axis=-1), rtol=1e-6)
assert abs(cm.timeout_prob(4, loss_prob=0.05) - 0.0140) < 5e-5
assert abs(cm.timeout_prob(4, loss_prob=0.05, exact=True) - 0.1426) < 5e-5
assert cm.timeout_prob(10, loss_prob=0.05, exact=True) > 1e6 * cm.timeout_prob(10, loss_prob=0.05)
assert np.allclose(cm.timeout_prob([1, 2, 3], loss_prob=0.05), cm.timeout_prob([1, 2, 3], loss_prob=0.05, exact=True))
