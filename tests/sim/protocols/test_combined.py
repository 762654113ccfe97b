"""Contract: schemes that are written with plus signs between them are the sum of what each does otherwise than ecmp."""

from dataclasses import replace

import pytest

from capsim import Batch, LeafSpine, ParameterError, Result, Scenario, Study, compare, scheme, simulate
from capsim.run.simulation import prepare

SMALL = Scenario(
    fabric=LeafSpine(leaves=2, hosts_per_leaf=2, spines=3),
    traffic=(Batch(flow_bytes=200_000, pairs="sides"),),
)


def parts(name):
    return replace(scheme(name), name="", summary="", cite="")


def test_a_sum_is_the_scheme_that_was_written_by_hand(subtests):
    """Catches a part that is left out, a stack or parameter of the wrong part, and an order that matters."""
    cases = [
        ("rps+dctcp", "dctcp_rps"),
        ("dctcp+rps", "dctcp_rps"),
        ("sack+dctcp", "dctcp_sack"),  # a component of one, a parameter of the other
        ("repflow+dctcp", "repflow_dctcp"),  # short flows only
        ("rps+ecmp_pq", "rps_pq"),  # a priority
        ("ecmp+rps", "rps"),
        ("rps + dctcp", "rps+dctcp"),
        ("mptcp.sharing+mptcp_fc.congestion", "mptcp_fc"),
    ]
    for written, known in cases:
        with subtests.test(written=written, known=known):
            assert parts(written) == parts(known)


def test_a_role_takes_nothing_else():
    """Catches a part that adds all it has although a role is named."""
    found = scheme("conga+presto.layer")
    assert (found.balancer, found.long.layer) == (scheme("conga").balancer, scheme("presto").long.layer)
    assert scheme("caps.layer+rps").balancer == scheme("rps").balancer


def test_marks_codes_and_replicas_go_over_rack():
    """Catches a transport of one part that loses the parameter of another."""
    coded, replicated = scheme("dctcp+ec_rack"), scheme("rack+repflow+dctcp")
    assert (coded.long.layer, coded.balancer) == (scheme("ec_rack").long.layer, scheme("rps").balancer)
    for found in (coded.long, replicated.short):
        assert (found.transport.name, found.transport.params.ecn) == ("rack", True)
        assert found.congestion == scheme("dctcp").long.congestion
    assert replicated.short.sharing == scheme("repflow").short.sharing


def test_its_name_is_what_was_written_and_its_sources_are_all():
    """Catches a name of the first part, and sources that are lost."""
    found = scheme("drill+mmptcp")
    assert (found.name, found.cite) == ("drill+mmptcp", f"{scheme('drill').cite}, {scheme('mmptcp').cite}")
    assert scheme("ecmp+mmptcp_as").reconstructed == scheme("mmptcp_as").reconstructed


def test_what_does_not_go_together_is_refused_in_one_line(subtests):
    """Catches a silent winner of two parts, a mark that changes nothing, and a message without a remedy."""
    cases = [
        ("caps+rps", "caps and rps each have a balancer of their own: take one role of a part, as in caps.layer"),
        ("rps+drill", "rps and drill each have a balancer of their own: leave one of them out"),
        ("rps+ecn", "ecn is no scheme but the queue of dctcp: write rps+dctcp"),
        ("rps+dctcp.queue", "its queue marks packets, but its hosts send none to be marked: take a scheme that marks"),
        ("rps+uet.queue", "its queue marks packets, but its hosts send none to be marked: take a scheme that marks"),
        ("rps+dctcp.congestion", "its windows wait for marks, but no packet is marked: take a scheme that marks"),
        ("rps+uet.congestion", "its windows wait for marks, but no packet is marked: take a scheme that marks"),
        ("rps+presto.leyer", "'leyer' is no role: did you mean presto.layer? There are transport, congestion,"),
        ("rps+", "a part is missing: write names between the signs, as in rps+dctcp"),
        ("rps+round_robin", "round_robin is a NIC: set it by --nic, or the key nic"),
        ("own.py:MINE+rps", "combine a scheme of a file in the file, as in replace("),
        ("cbr.transport+dctcp", "dctcp sets transport.ecn, which datagram does not have: leave one of them out"),
    ]
    for name, told in cases:
        with subtests.test(name=name, told=told):
            with pytest.raises(ParameterError) as error:
                scheme(name)
            assert str(error.value).startswith(f"scheme = '{name}': {told}")
            assert "\n" not in str(error.value)


def test_an_unknown_part_is_told_by_its_nearest():
    """Catches an error about the whole name, to which no scheme is near."""
    with pytest.raises(ParameterError, match=r"^scheme = 'dctpc': did you mean dctcp\?"):
        scheme("rps+dctpc")


def test_a_name_twice_is_refused():
    with pytest.raises(ParameterError, match="names a part twice"):
        scheme("rps+rps")


def test_it_runs_as_the_scheme_written_by_hand_and_is_run_again(tmp_path):
    """Catches flows that depend on the name, and a result that cannot be run again from what it keeps."""
    made = simulate(SMALL, scheme="rps+dctcp")
    known = simulate(SMALL, scheme="dctcp_rps")
    assert made.flows["fct_s"].tolist() == known.flows["fct_s"].tolist()
    kept = Result.load(made.save(tmp_path / "kept"))
    assert kept.scenario.scheme == "rps+dctcp"
    again = simulate(kept.scenario)
    assert again.manifest["id"] == made.manifest["id"]
    assert prepare(kept.scenario).scheme == scheme("rps+dctcp")


def test_comparisons_and_studies_name_it_as_it_was_written(tmp_path):
    """Catches results of rps_dctcp and rps+dctcp in one folder, and an axis that takes only names of schemes."""
    names = ["dctcp_rps", "rps+dctcp"]
    compared = compare(SMALL, schemes=names, seeds=1, results=tmp_path)
    assert compared.schemes == tuple(names)
    assert {path.name for path in tmp_path.iterdir()} >= {"dctcp_rps-seed1", "rps+dctcp-seed1"}
    study = Study(scenario=SMALL, axes={"scheme": names}, seeds=1)
    found = study.run(tmp_path / "study")
    assert found.runs["scheme"].tolist() == names
    assert found.runs["mean_fct_long_s"].nunique() == 1


def test_hosts_of_a_traffic_entry_may_run_one():
    mixed = SMALL.replace(traffic=(SMALL.traffic[0], Batch(flow_bytes=50_000, pairs="sides", stack="sack+mptcp")))
    found = simulate(mixed, scheme="rps")
    assert found.manifest["parameters"]["stacks"]["1"]["long"]["sharing"]["component"] == "mptcp"
