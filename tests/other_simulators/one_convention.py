"""What one convention is worth: each of ns-3's is left out in turn, and capsim's default or the other value put in.

``PYTHONPATH=tests python -m other_simulators.one_convention`` writes the table of docs/validation.md on conventions.
"""

from other_simulators.compare_with_ns3 import capsim_outcome, ns3_outcome
from page_tables import write_table

CASES = {
    "leaf-spine-handshake": {"syn_bytes": 40, "handshake_ack": False, "handshake": False},
    "incast-64": {"full_ack_option": 1, "ssthresh_from": "flight", "keep_backoff": True},
    "incast-32-sack": {"rescue": True, "resend_at_partial_ack": False, "sack_blocks": 3, "keep_backoff": True},
}


def main() -> None:
    """Write the ratios of completion times, capsim over ns-3, with one parameter changed."""
    rows = [["scenario", "changed", "ratio of means", "ratio of 99th percentiles"]]
    for name, changes in CASES.items():
        ns3 = ns3_outcome(name)
        for change in ({}, *({parameter: value} for parameter, value in changes.items())):
            ours = capsim_outcome(name, **change)
            ratios = (ours.mean_fct_s / ns3.mean_fct_s, ours.p99_fct_s / ns3.p99_fct_s)
            label = ", ".join(f"{parameter} = {value}" for parameter, value in change.items()) or "nothing"
            rows.append([name, label, *(f"{ratio:.4f}" for ratio in ratios)])
    write_table("ns3_conventions", rows)


if __name__ == "__main__":
    main()
