"""Identity: loss recovery in the runs of experiments is exchanged whole, and nothing else is."""

import pytest

from capsim import scheme
from capsim.protocols.transports.sack import SackParams
from capsim.protocols.transports.tcp import TcpParams
from capsim.study.measures import experiment_run, with_recovery
from capsmodel.checks import ParameterError
from capsmodel.papers.studies import published_studies


def test_another_recovery_keeps_the_parameters_of_both_transports(subtests):
    """Those of TCP stay; those that SACK alone has take its defaults."""
    for name in ["ps", "caps", "repflow_dctcp"]:
        with subtests.test(name=name):
            before = scheme(name)
            found = with_recovery(before, "sack")
            for flows in ("short", "long"):
                old, new = getattr(before, flows), getattr(found, flows)
                assert (new.transport.name, type(new.transport.params)) == ("sack", SackParams)
                assert TcpParams(**{one: getattr(new.transport.params, one) for one in vars(old.transport.params)}) == (
                    old.transport.params
                )
                assert (new.congestion, new.sharing, new.layer) == (old.congestion, old.sharing, old.layer)
            assert with_recovery(found, "newreno") == before


def test_schemes_with_a_transport_of_their_own_keep_it():
    assert with_recovery(scheme("pfabric"), "sack") == scheme("pfabric")


def test_a_run_with_sack_differs_from_one_without():
    """The alternative setting runs at all, with the rules of SACK."""
    study = published_studies()["caps-incast1"]
    small = study.arguments((("scheme", "ECMP"), ("short_flows", 20)), scale="quick")
    small["scenario"]["fabric"]["buffer_packets"] = 16
    rows = [experiment_run(**small | {"recovery": name}, seed=1) for name in ("newreno", "sack")]
    assert rows[0]["packets_dropped"] > 0
    assert rows[0]["mean_fct_short_s"] != rows[1]["mean_fct_short_s"]


def test_flows_that_a_run_cuts_off_are_left_out_only_where_the_study_says_so():
    study = published_studies()["repflow-ns3-dm"]
    point = (("scheme", "TCP"), ("workload", "datamining"), ("load", 0.2))
    text, cut = (study.arguments(point, setting, "reduced") for setting in ("as the text", "end_s = 0.5"))
    assert "unfinished" not in text
    assert (cut["unfinished"], cut["scenario"]["end_s"]) == ("left out", 0.5)
    cut["scenario"] |= {"end_s": 0.01, "fabric": cut["scenario"]["fabric"] | {"pods": 4}}
    assert experiment_run(**cut, seed=1)["unfinished_flows"] > 0
    with pytest.raises(ParameterError, match="unfinished after end_s"):
        experiment_run(**cut | {"unfinished": ""}, seed=1)
