"""Columns of a run by metrics of ``claims.csv``: which can be 0, which are tails, and the units of claims."""

__all__ = ["COLUMNS", "COUNTED", "ORDERS_OF_MAGNITUDE", "SHARES", "TAILS", "UNITS", "compared_by_difference"]

COLUMNS = {
    "afct_short": "mean_fct_short_s",
    "p99_fct_short": "p99_fct_short_s",
    "afct_long": "mean_fct_long_s",
    "afct_short_normalised": "mean_slowdown_short",
    "p99_fct_short_normalised": "p99_slowdown_short",
    "afct_long_normalised": "mean_slowdown_long",
    "afct_all_normalised": "mean_slowdown",
    "afct_all": "mean_fct_s",
    "p99_fct_all": "p99_fct_s",
    "dupack3_ratio": "long_dup_ack_run_ratio",
    "long_goodput": "mean_throughput_long_bps",
    "goodput": "goodput_bps",
    "timeouts": "timeouts_short",
    "fct_short_std": "fct_short_std_s",
    "p50_fct_short": "p50_fct_short_s",
    "p75_fct_short": "p75_fct_short_s",
    "fct_tail_short": "p99_fct_short_s",
    "fct_tail_all": "p99_fct_s",
    "completed_short": "completed_short",
    "fast_retx": "fast_retransmits_short",
    "spurious_retx": "spurious_short",
    "connections_with_rto": "timed_out_short",
    "flows_with_0_fast_retx": "flows_with_0_fast_retx",
    "flows_with_1_fast_retx": "flows_with_1_fast_retx",
    "flows_with_more_than_2_timeouts": "flows_with_more_than_2_timeouts",
    "flows_with_more_than_20_timeouts": "flows_with_more_than_20_timeouts",
    "flows_with_fewer_than_2_timeouts": "flows_with_fewer_than_2_timeouts",
    "flows_without_timeout": "flows_without_timeout",
    "long_goodput_std": "throughput_long_std_bps",
    "long_goodput_gap": "mean_throughput_long_bps",
    "goodput_gap_MPTCP_minus_MMPTCP": "mean_throughput_long_bps",
    "core_utilisation": "core_utilisation",
    "core_utilisation_gap": "core_utilisation",
    "core_loss": "core_loss_ratio",
    "access_loss": "access_loss_ratio",
    "loss": "lost_ratio_short",
    "reorder_ratio": "reordered_ratio_short",
    "encoded_ratio": "coded_share",
    "overhead": "copied_ratio",
}
"""Column of a run (:mod:`capsim.study.measures`) for the metric of a claim."""
SHARES = {"coded_share": "coding_overhead"}
"""Shares of all packets that no run has, and the column of each: what was added over what was there before."""
COUNTED = frozenset(
    {
        "timeouts_short",
        "timed_out_short",
        "fast_retransmits_short",
        "spurious_short",
        "lost_ratio_short",
        "reordered_ratio_short",
        "core_loss_ratio",
        "access_loss_ratio",
        "long_dup_ack_run_ratio",
    }
)
"""Columns that can be 0: which of two is larger is judged by their difference."""
TAILS = frozenset({"p99_fct_short_s", "p99_slowdown_short", "p99_fct_s", "longest_untimed_fct_s"})
"""Columns that a setting may change by one factor in a fabric and by another in a smaller one
(``data/papers/carried_over.csv``)."""
UNITS = {"%": 100.0, "percentage points": 100.0, "ms": 1e3, "Mbps": 1e-6, "MB": 1e-6}
"""Units of claims, over those of the columns; 1 for all others."""
ORDERS_OF_MAGNITUDE = "orders of magnitude"
"""Unit of claims that print the logarithm of a ratio, to base 10."""


def compared_by_difference(metric: str) -> bool:
    """Return whether an order of two schemes is about the difference of a metric, which can be 0, and not their ratio.

    Examples
    --------
    >>> compared_by_difference("timeouts"), compared_by_difference("afct_short")
    (True, False)
    """
    return COLUMNS.get(metric) in COUNTED
