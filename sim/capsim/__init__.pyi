from capsim.base.inlined import inlined
from capsim.fabric.collectives import Collective
from capsim.fabric.faults import DrawnFault
from capsim.fabric.flows import FlowList
from capsim.fabric.graph import Edge, Node, Topology
from capsim.fabric.kinds import Dumbbell, FatTree, LeafSpine, ParallelPaths
from capsim.fabric.listed import Listed
from capsim.fabric.traffic import Batch, Incast, OnOff, Poisson, draw_flows
from capsim.fabric.wiring import LinkChange
from capsim.protocols.registry import scheme, schemes
from capsim.results.conservation import ConservationError
from capsim.results.pcap import write_pcap
from capsim.results.plots import plot_cdf, plot_histograms
from capsim.results.result import Result
from capsim.results.summary import Summary
from capsim.results.trace import Trace
from capsim.roles.components import Balancer, Congestion, Layer, Marking, Nic, Queue, Scheme, Sharing, Stack, Transport
from capsim.roles.hooks import ACCEPT, EVICT, FOLLOW, KEEP, MARK, PASS, REFUSE, TRIM, TRIM_LAST
from capsim.run.simulation import simulate
from capsim.scenario.model_inputs import ModelInputs, model_inputs
from capsim.scenario.scenario import Hosts, Probes, Scenario, excerpt, load_scenario, presets
from capsim.scenario.settings import with_settings
from capsim.study.comparison import Estimated, compare, estimate
from capsim.study.study import Studied, Study, load_study
from capsmodel.checks import ParameterError

__version__: str

__all__ = [
    "ACCEPT",
    "EVICT",
    "FOLLOW",
    "KEEP",
    "MARK",
    "PASS",
    "REFUSE",
    "TRIM",
    "TRIM_LAST",
    "Balancer",
    "Batch",
    "Collective",
    "Congestion",
    "ConservationError",
    "DrawnFault",
    "Dumbbell",
    "Edge",
    "Estimated",
    "FatTree",
    "FlowList",
    "Hosts",
    "Incast",
    "Layer",
    "LeafSpine",
    "LinkChange",
    "Listed",
    "Marking",
    "ModelInputs",
    "Nic",
    "Node",
    "OnOff",
    "ParallelPaths",
    "ParameterError",
    "Poisson",
    "Probes",
    "Queue",
    "Result",
    "Scenario",
    "Scheme",
    "Sharing",
    "Stack",
    "Studied",
    "Study",
    "Summary",
    "Topology",
    "Trace",
    "Transport",
    "compare",
    "draw_flows",
    "estimate",
    "excerpt",
    "inlined",
    "load_scenario",
    "load_study",
    "model_inputs",
    "plot_cdf",
    "plot_histograms",
    "presets",
    "scheme",
    "schemes",
    "simulate",
    "with_settings",
    "write_pcap",
]
