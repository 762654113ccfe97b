"""Identity: what was simulated is worked out by hand; agreement at almost no load, where nothing waits."""

import math

import numpy as np
import pandas as pd
import pytest

from capsim import LeafSpine, ParameterError, Poisson, Scenario, model_inputs, simulate
from capsim.results.prediction import QUANTITIES, beside, simulated

FABRIC = LeafSpine(leaves=2, hosts_per_leaf=2, spines=2, rate_bps=100e9, delay_s=1e-6)


def scenario(scheme="uet", *, load=0.4, flows=50, **changes):
    traffic = Poisson(workload="websearch", load=load, flows=flows)
    settings = {"fabric": FABRIC, "traffic": (traffic,), "scheme": scheme, "profile": "100g", "nic": "round_robin"}
    return Scenario(**settings | changes)


def table(*rows):
    names = ["flow_bytes", "fct_s", "slowdown", "counted", "finished"]
    return pd.DataFrame(rows, columns=names)


FLOWS = table(
    (1, 1e-6, 9.0, True, True),
    (100_000, 4e-6, 9.0, True, True),  # the largest short flow
    (100_001, 1.0, 9.0, True, True),  # neither short nor long
    (1_000_000, 1.0, 9.0, True, True),
    (1_000_001, 1.0, 2.0, True, True),
    (5_000_000, 1.0, 5.0, True, True),
    (1, 1.0, 9.0, False, True),  # of the warm-up
    (5_000_000, 1.0, 90.0, False, True),
    (1, math.nan, math.nan, True, False),  # in progress at the end
    (5_000_000, math.nan, math.nan, True, False),
)


def test_simulated_quantities_are_of_counted_flows_that_are_complete():
    assert simulated(FLOWS, short_bytes=100_000) == pytest.approx(
        {"short_mean_s": 2.5e-6, "short_p99_s": 4e-6, "long_mean_slowdown": 3.5, "long_p99_slowdown": 5.0}
    )


def test_a_class_without_flows_is_nan():
    short = simulated(FLOWS[FLOWS["flow_bytes"] > 100_000], short_bytes=100_000)
    assert [name for name, value in short.items() if np.isnan(value)] == ["short_mean_s", "short_p99_s"]


def test_predicted_quantities_are_those_of_the_scenario_and_its_short_flows():
    found = beside(scenario(short_bytes=10_000), FLOWS).set_index("quantity")
    model = model_inputs(scenario()).predict(short_bytes=10_000)
    assert found["predicted"].to_dict() == {
        "short_mean_s": model.short.mean_s,
        "short_p99_s": model.short.quantile_s(0.99),
        "long_mean_slowdown": model.long.mean_slowdown,
        "long_p99_slowdown": model.long.quantile_slowdown(0.99),
    }
    assert found.loc["short_mean_s", "simulated"] == 1e-6
    assert found["ratio"].to_dict() == (found["predicted"] / found["simulated"]).to_dict()


def test_each_row_says_what_it_rests_on():
    found = beside(scenario("ecmp_pq"), FLOWS)
    assert list(found["quantity"]) == list(QUANTITIES)
    assert list(found["rests_on"]) == ["derived", "derived", "bound", "bound"]


def test_prediction_of_a_result_at_almost_no_load_is_what_its_flows_take():
    result = simulate(scenario(load=0.001, flows=60))
    found = result.prediction.set_index("quantity")
    assert found["simulated"].to_dict() == pytest.approx(simulated(result.flows, short_bytes=100_000), nan_ok=True)
    # The sizes that a run draws vary; over the times of the same flows alone there is nothing left.
    short = result.flows[result.flows["short"]]
    alone_s = model_inputs(result.scenario).predict().short.terms["alone"]
    over_alone = found.loc["short_mean_s", "predicted"] / alone_s
    assert short["fct_s"].mean() / short["ideal_fct_s"].mean() == pytest.approx(over_alone, rel=0.02)
    assert found.loc["long_mean_slowdown", "ratio"] == pytest.approx(1, abs=0.02)


def test_a_scheme_without_a_formula_is_refused_in_one_line():
    with pytest.raises(ParameterError, match=r"^mptcp has no formula of its completion times") as error:
        beside(scenario("mptcp"), FLOWS)
    assert "\n" not in str(error.value)
