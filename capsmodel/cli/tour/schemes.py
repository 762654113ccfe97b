"""Part of the tour: CAPS against ECMP, RPS and RepFlow on the web-search workload, packet by packet."""

from collections.abc import Sequence
from typing import Any

import msgspec

from capsim import Scenario, Studied, compare, load_scenario
from capsmodel.cli.shared.table import Column
from capsmodel.cli.tour.section import Advance, Section, Station
from capsmodel.experiments.number_texts import with_interval
from capsmodel.experiments.sweep import Task, all_cores, one_by_one

PRESET = "websearch-load-60"
SCHEMES = ("ecmp", "rps", "repflow", "caps")
SEEDS, FLOWS, QUICK_FLOWS = 4, 500, 200  # 4 CPU s for each seed and scheme: most of the time that the tour takes
# key on the page, heading, factor to its unit, figure of the comparison
_SHOWN = (
    ("mean_fct_short_ms", "mean FCT, short flows (ms)", 1e3, "mean_fct_short_s"),
    ("timeout_short_percent", "short flows with a timeout (%)", 1e2, "timeout_ratio_short"),
    ("mean_fct_rest_ms", "mean FCT of the other short flows (ms)", 1e3, "mean_fct_short_without_timeouts_s"),
    ("p99_fct_short_ms", "99th percentile FCT, short (ms)", 1e3, "p99_fct_short_s"),
    ("mean_fct_long_ms", "mean FCT, long flows (ms)", 1e3, "mean_fct_long_s"),
    ("throughput_long_mbps", "throughput, long (Mbit/s)", 1e-6, "mean_throughput_long_bps"),
    ("reordered_percent", "packets reordered (%)", 1e2, "reorder_ratio"),
    ("timeouts", "timeouts per run", 1.0, "timeouts"),
)


def _setting(quick: bool) -> tuple[Scenario, int, str]:
    """Return the scenario, the number of seeds, and the flags of ``capsmodel compare`` that mean the same."""
    scenario = load_scenario(PRESET)
    (entry,) = scenario.traffic
    flows = QUICK_FLOWS if quick else FLOWS
    shorter = scenario.replace(traffic=(msgspec.structs.replace(entry, flows=flows),))
    if not quick:
        return shorter, SEEDS, f"{PRESET} --flows {flows}"
    fabric = msgspec.structs.replace(scenario.fabric, leaves=2, hosts_per_leaf=2, spines=2)
    return shorter.replace(fabric=fabric), 2, f"{PRESET} --fabric leaf-spine:2x2x2 --flows {flows}"


def _rows(compared: Studied) -> list[dict[str, Any]]:
    records = compared.table(tuple(figure for *_, figure in _SHOWN)).to_dict("records")
    record_of = {(record["scheme"], record["metric"]): record for record in records}
    rows = []
    for scheme in compared.schemes:
        row: dict[str, Any] = {"scheme": scheme}
        for key, _, factor, figure in _SHOWN:
            row[key] = record_of[scheme, figure]["mean"] * factor
            row[f"{key}_half_width"] = record_of[scheme, figure]["half_width"] * factor
        rows.append(row)
    return rows


def _finding(compared: Studied) -> str:
    """Return which schemes may be best and how CAPS compares, with the paired interval of its ratio to ECMP."""
    table = compared.table(("mean_fct_short_s",)).sort_values("mean")
    best = table["scheme"].iloc[0]
    alike = table["scheme"][~(table["low"] > table["high"].iloc[0])].tolist()[1:]
    besides = f", but {', '.join(alike)} cannot be told from it: their intervals overlap" if alike else ""
    caps = table[table["scheme"] == "caps"].iloc[0]
    share = with_interval(caps["ratio"], caps["ratio_low"], caps["ratio_high"])
    return (
        f"Short flows finish soonest on average under {best}{besides}. caps needs {share} of the time that "
        f"{compared.schemes[0]} needs on the same flows. The scheme caps acknowledges each packet, because its "
        "measurement of blocked packets needs that; in the other interpretation of the paper a unit is acknowledged "
        "when it decodes: the scheme caps_decode. The mean depends on the flows that had to wait for a timeout: "
        "their share, and the mean of the others, are in the table too."
    )


def _visit(quick: bool, advance: Advance) -> Section:
    scenario, seeds, flags = _setting(quick)
    share = 1 / (len(SCHEMES) * seeds)

    def done(tasks: Sequence[Task]) -> None:
        advance(len(tasks) * share)

    compared = compare(scenario, schemes=SCHEMES, seeds=seeds, executor=one_by_one if quick else all_cores(), done=done)
    return Section(
        title="Which scheme is fast on the web-search workload?",
        reading=f"Dots are means over {seeds} seeds, bars their 95% intervals; further left is better in the first two "
        "panels, further right in the third. All schemes send the same flows, of sizes as in a web search: short ones "
        "of up to 100 KB, and long ones of up to 30 MB. When a run begins, as many flows are in progress as belong to "
        "its load, and others follow those that count. FCT is the flow completion time, p99 its 99th percentile, "
        "which 1% of the flows exceed. ecmp (equal-cost multipath) picks a path for each flow, rps (random packet "
        "spraying) for each packet; repflow sends short flows twice and takes what comes first; caps (coding-based "
        "adaptive packet spraying) sprays and codes short flows. An interval that is wider than its value says that so "
        "few runs do not determine it.",
        finding=_finding(compared),
        commands=(f"capsmodel compare {flags} --schemes {','.join(SCHEMES)} --seeds {seeds}",),
        columns=(
            Column("scheme", "scheme"),
            *(Column(key, label, error=f"{key}_half_width") for key, label, *_ in _SHOWN),
        ),
        rows=_rows(compared),
        figures={"schemes": compared.plot()},
    )


STATION = Station("schemes", "simulating schemes", _visit)
