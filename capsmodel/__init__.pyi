from capsmodel.checks import ParameterError
from capsmodel.coding.decoding import (
    decode_failure_prob,
    decode_failure_prob_paths,
    decode_prob,
    decode_prob_paths,
    log_decode_prob,
)
from capsmodel.coding.messages import coding_pays_from, mean_message_s, message_late_prob
from capsmodel.coding.optimal_unit import DelayCurve, OptimalUnit, delay_curve, optimal_coding_unit
from capsmodel.coding.paths.delays import PathDelay
from capsmodel.coding.paths.estimates import (
    failure_elasticity,
    least_interleave,
    predictive_failure_prob,
    predictive_repair_packets,
    residual_loss_prob,
)
from capsmodel.coding.paths.files import read_paths
from capsmodel.coding.paths.losses import PathLosses
from capsmodel.coding.paths.retransmission import (
    break_even_round_trip_s,
    hybrid_failure_prob,
    mean_retransmissions,
    repair_packets_hybrid,
    sendings_within,
    sent_per_source_packet,
)
from capsmodel.coding.paths.unit_choice import UnitCorners, measured_failure_prob, unit_corners, unit_failure_prob
from capsmodel.coding.random_linear import decode_prob_rlnc, full_rank_prob
from capsmodel.coding.redundancy import repair_packets, repair_packets_for, traffic_overhead
from capsmodel.coding.window_delay import buffering_delay_s, uncoded_window_delay_s, window_delay_s
from capsmodel.fct.completion import mean_fct, tail_fct
from capsmodel.fct.long_flows import mean_fct_long, tail_fct_long
from capsmodel.fct.replication import replication_break_even_load
from capsmodel.metrics import goodput_bps, ideal_fct_s, jain_fairness, percentile, slowdown
from capsmodel.multipath.coded_transport import connection_loss_prob, redundancy_ratio
from capsmodel.multipath.lia import lia_equilibrium_windows
from capsmodel.multipath.timeouts import timeout_prob
from capsmodel.prediction.completion import Prediction, predict_fct
from capsmodel.prediction.fabric import FabricModel, LinkLayer
from capsmodel.prediction.schemes import SchemeModel
from capsmodel.queueing.mg1 import mg1_mean_wait, mg1_wait_prob, mg1_wait_quantile, priority_mean_waits
from capsmodel.queueing.service import Deterministic, Empirical, Erlang, Exponential, Hyperexponential
from capsmodel.queueing.settling import run_bias, run_flows, run_length, run_precision, settled_share
from capsmodel.queueing.srpt import srpt_mean_response, srpt_mean_response_of_size
from capsmodel.reordering.dup_acks import duplicate_acks_prob
from capsmodel.reordering.probability import expected_overtaken_packets, reordering_prob
from capsmodel.workloads.catalogue import FlowSizes, PacketSizes, load_workload, workload_names

__all__ = [
    "DelayCurve",
    "Deterministic",
    "Empirical",
    "Erlang",
    "Exponential",
    "FabricModel",
    "FlowSizes",
    "Hyperexponential",
    "LinkLayer",
    "OptimalUnit",
    "PacketSizes",
    "ParameterError",
    "PathDelay",
    "PathLosses",
    "Prediction",
    "SchemeModel",
    "UnitCorners",
    "__version__",
    "break_even_round_trip_s",
    "buffering_delay_s",
    "coding_pays_from",
    "connection_loss_prob",
    "decode_failure_prob",
    "decode_failure_prob_paths",
    "decode_prob",
    "decode_prob_paths",
    "decode_prob_rlnc",
    "delay_curve",
    "duplicate_acks_prob",
    "expected_overtaken_packets",
    "failure_elasticity",
    "full_rank_prob",
    "goodput_bps",
    "hybrid_failure_prob",
    "ideal_fct_s",
    "jain_fairness",
    "least_interleave",
    "lia_equilibrium_windows",
    "load_workload",
    "log_decode_prob",
    "mean_fct",
    "mean_fct_long",
    "mean_message_s",
    "mean_retransmissions",
    "measured_failure_prob",
    "message_late_prob",
    "mg1_mean_wait",
    "mg1_wait_prob",
    "mg1_wait_quantile",
    "optimal_coding_unit",
    "percentile",
    "predict_fct",
    "predictive_failure_prob",
    "predictive_repair_packets",
    "priority_mean_waits",
    "read_paths",
    "redundancy_ratio",
    "reordering_prob",
    "repair_packets",
    "repair_packets_for",
    "repair_packets_hybrid",
    "replication_break_even_load",
    "residual_loss_prob",
    "run_bias",
    "run_flows",
    "run_length",
    "run_precision",
    "sendings_within",
    "sent_per_source_packet",
    "settled_share",
    "slowdown",
    "srpt_mean_response",
    "srpt_mean_response_of_size",
    "tail_fct",
    "tail_fct_long",
    "timeout_prob",
    "traffic_overhead",
    "uncoded_window_delay_s",
    "unit_corners",
    "unit_failure_prob",
    "window_delay_s",
    "workload_names",
]

__version__: str
