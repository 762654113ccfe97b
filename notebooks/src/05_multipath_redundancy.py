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
# With given losses and round-trip times the equilibrium windows follow. A path with ten times the loss keeps a smaller
# window, and the whole connection gets what one TCP would get on the best path: Eq. 9 is an equality, not a bound.

# %%
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
# the case of at most two arrivals; the exact probability, which also counts losses followed by too few packets, is an
# order of magnitude larger just above the threshold and falls far more slowly. Notebook 12 measures windows and
# timeouts in simulations.

# %%
w = np.arange(1, 31)
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.semilogy(w, cm.timeout_prob(w, loss_prob=0.05), "o-", label="Eq. 6 as printed")
axes.semilogy(w, cm.timeout_prob(w, loss_prob=0.05, exact=True), "s-", label="exact")
axes.set(xlabel="window, packets", ylabel="timeout probability, loss 0.05", ylim=(1e-6, 1))
axes.legend(frameon=False)
plt.show()

# %%
# The text of this notebook, asserted.
assert printed > 1
assert abs(cm.redundancy_ratio(loss) - loss / (1 - loss)) < 1e-15
assert np.allclose(both.sum(axis=-1), single_path_window(losses).max(axis=-1), rtol=1e-6)
assert abs(cm.timeout_prob(4, loss_prob=0.05) - 0.0140) < 5e-5
assert abs(cm.timeout_prob(4, loss_prob=0.05, exact=True) - 0.1426) < 5e-5
assert cm.timeout_prob(10, loss_prob=0.05, exact=True) > 1e6 * cm.timeout_prob(10, loss_prob=0.05)
assert np.allclose(cm.timeout_prob([1, 2, 3], loss_prob=0.05), cm.timeout_prob([1, 2, 3], loss_prob=0.05, exact=True))
