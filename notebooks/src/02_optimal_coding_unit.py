# %% [markdown]
# # The best coding unit, and a discrepancy
#
# Notebook 1 showed when one unit decodes. A sender has a window of $w$ packets in flight and divides it into $w/k$
# units. How large should a unit be? The window is complete when its last unit is, so many small units are bad: one of
# them will wait for a blocked packet. Large units take long to fill, because a packet waits at the receiver until its
# unit is complete: $d_B$ on average. CAPS (coding-based adaptive packet spraying) minimises the mean delay $d_w$ of a
# window over $k$, where $RTT_S$ is the round-trip time (RTT) on a path without and $RTT_L$ on a path with a long flow,
# $MSS$ the size of a packet and $C$ the link rate:
#
# $$d_w = p_S^{w/k}(RTT_S+d_B) + (1-p_S^{w/k})RTT_L,\qquad d_B=\frac{(k-1)MSS}{2C}\qquad\text{(Eq. 3, 4)}$$
#
# and prints the optima $k = 29, 31, 33, 40$ for $p_B = 0.2, 0.25, 0.3, 0.35$ ($w=64$, 1 Gbps, 1500 B, 0.1 ms and 3 ms).

# %%
import numpy as np
from matplotlib import pyplot as plt

import capsmodel as cm

PROBS = np.array([0.2, 0.25, 0.3, 0.35])
PRINTED = np.array([29, 31, 33, 40])
SETTING = {"rtt_short_s": 1e-4, "rtt_long_s": 3e-3, "packet_bytes": 1500, "rate_bps": 1e9}

literal = cm.optimal_coding_unit(64, blocking_prob=PROBS, objective="eq4", **SETTING)
print("Eq. 4, k up to the window:", literal.k)
print("printed in the paper:     ", PRINTED)

# %% [markdown]
# **The printed values do not follow from the printed formula.** With the paper's own rule for $r$ the minimum of Eq. 4
# within the window lies at 61, 64, 61, 64. The curve shows why: $p_S$ stays near one half, so $p_S^{w/k}$ keeps growing
# with $k$, while $d_B$ costs only 6 µs for each packet of a unit against the 2.9 ms between the two RTTs.

# %%
k = np.arange(1, 65)
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for p, printed in zip(PROBS, PRINTED, strict=True):
    delay_ms = 1e3 * cm.window_delay_s(k, window_packets=64, blocking_prob=p, objective="eq4", **SETTING)
    (line,) = axes.plot(k, delay_ms, label=f"$p_B$ = {p}", linewidth=0.8)
    axes.plot(printed, delay_ms[printed - 1], "X", color=line.get_color(), markersize=11, markeredgecolor="black")
    axes.plot(k[delay_ms.argmin()], delay_ms.min(), "o", color=line.get_color(), markersize=9, markeredgecolor="black")
axes.set(xlabel="k", ylabel="$d_w$, ms", title="Eq. 4: minimum (dot) and the printed optimum (cross)")
axes.legend(frameon=False)
plt.show()

# %% [markdown]
# ## A reading without tuned constants
#
# Repair packets cost nothing in Eq. 4. If the time to send the $r\,w/k$ repair packets of a window is added, and
# $k$ and $r$ are both free, then the optimum moves to the printed size and grows with $p_B$ as printed. Nothing is
# fitted here, but the paper does not print this objective; it is an explanation, not a reproduction. It also chooses
# $r$ so that a unit decodes with probability near 0.99.

# %%
joint = cm.optimal_coding_unit(64, blocking_prob=PROBS, objective="with_redundancy_cost", **SETTING)
for i, p in enumerate(PROBS):
    print(
        f"p_B = {p}: k = {joint.k[i]:.0f}, r = {joint.r[i]:.0f}, {joint.delay_s[i] * 1e3:.4f} ms, "
        f"within 1% for k = {joint.near_k_min[i]:.0f}..{joint.near_k_max[i]:.0f}; printed k = {PRINTED[i]}"
    )

# %% [markdown]
# The optimum is flat: all four printed values lie in the range that costs at most 1% more. Below $p_B$ = 0.085 the
# minimum of Eq. 4 is at $k=1$: a repair packet for every packet, since repair packets cost nothing in it. Which of the
# two formulas predicts the optimum in a simulated fabric is examined in notebook 8. Notebook 15 has both objectives
# with sliders. Where $RTT_L$ comes from is the next question; it is a matter of queues.

# %%
p = np.linspace(0.02, 0.45, 44)
best = cm.optimal_coding_unit(64, blocking_prob=p, objective="with_redundancy_cost", **SETTING)
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.fill_between(p, best.near_k_min, best.near_k_max, alpha=0.25, label="within 1% of the minimum")
axes.plot(p, best.k, label="with redundancy cost")
by_eq4 = cm.optimal_coding_unit(64, blocking_prob=p, objective="eq4", **SETTING)
axes.plot(p, by_eq4.k, ":", label="Eq. 4, literal")
axes.plot(PROBS, PRINTED, "kx", label="printed")
axes.set(xlabel="blocking probability $p_B$", ylabel="optimal k")
axes.legend(frameon=False)
plt.show()

# %%
# The text of this notebook, asserted.
assert literal.k.tolist() == [61, 64, 61, 64]
assert list(zip(joint.k, joint.r, strict=True)) == [(28, 15), (31, 20), (32, 25), (35, 32)]
assert np.all((joint.near_k_min <= PRINTED) & (joint.near_k_max >= PRINTED))
assert np.all(joint.decode_prob > 0.98)
assert np.all((by_eq4.k == 1) == (p < 0.085))
assert np.all(by_eq4.r[p < 0.085] == 1)
assert np.all(np.asarray(joint.delay_s) < np.asarray(literal.delay_s))
uncoded = cm.uncoded_window_delay_s(64, blocking_prob=PROBS, rtt_short_s=1e-4, rtt_long_s=3e-3)
assert np.all(uncoded > 1.9 * np.asarray(literal.delay_s))
