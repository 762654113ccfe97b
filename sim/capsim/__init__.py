"""A packet simulator for transports that spread, replicate or code their packets over many paths.

A run in three lines:

>>> from capsim import Batch, Dumbbell, Scenario, simulate
>>> scenario = Scenario(fabric=Dumbbell(hosts_per_side=2), traffic=(Batch(flow_bytes=50_000, pairs="sides"),))
>>> simulate(scenario, scheme="ecmp", engine="reference").summary.flows
2

What there is:

==================== ===================================================================================================
to describe a run    :class:`Scenario`, :class:`Hosts`, :class:`Probes`; :func:`load_scenario` (TOML file or preset),
                     :func:`presets`; :func:`excerpt` (a few leaves or pods of a large one)
fabrics              :class:`LeafSpine`, :class:`FatTree`, :class:`ParallelPaths`, :class:`Dumbbell`; a
                     :class:`Topology` of one's own, made of :class:`Node` and :class:`Edge`, files or networkx;
                     :class:`LinkChange` for links that differ, fail and return, :class:`DrawnFault` for drawn ones
traffic              :class:`Poisson`, :class:`Batch`, :class:`OnOff`, :class:`Incast`, :class:`Collective`,
                     :class:`Listed`; :func:`draw_flows` gives the :class:`FlowList` that they become
to run it            :func:`simulate` (one run), :func:`compare` (several schemes on the same flows, over seeds),
                     :func:`estimate` (a large fabric from a few of its leaves or pods, as :class:`Estimated`)
studies              :func:`load_study` (TOML file), :class:`Study` and what its runs, or those of :func:`compare`, say,
                     :class:`Studied`; :func:`with_settings` changes values of a scenario by name
schemes              :func:`schemes` lists them, :func:`scheme` finds one by its name
without packets      :func:`model_inputs`: what the closed forms of completion times take from a scenario, as
                     :class:`ModelInputs`
to read results      :class:`Result` (tables, completion times, files), :class:`Summary`; :func:`plot_cdf`,
                     :func:`plot_histograms` (PDF, SVG, PNG);
                     :class:`Trace` (packet by packet), :func:`write_pcap` (the same for Wireshark)
a scheme of your own :class:`Scheme`, made of a :class:`Balancer`, a :class:`Queue`, a :class:`Nic` and the
                     :class:`Stack` of short and long flows: :class:`Transport`, :class:`Congestion`, :class:`Sharing`,
                     :class:`Layer`, :class:`Marking`; what hooks return is ``ACCEPT``, ``MARK``, ``REFUSE``, ``EVICT``,
                     ``TRIM``, ``TRIM_LAST`` (queue) and ``PASS``, ``KEEP``, ``FOLLOW`` (layer); :func:`inlined` marks
                     functions that hooks call
errors               :class:`ParameterError` (bad input), :class:`ConservationError` (a defect: packets do not add up)
==================== ===================================================================================================

The signatures of hooks are in :mod:`capsim.roles.hooks`, the fields of the records that they are given in
:mod:`capsim.records`, own fields in :mod:`capsim.roles.own`, the columns of the tables in :mod:`capsim.base.schema`.
"""

from capsmodel import __version__ as __version__
from capsmodel._lazy import names_of_stub

__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)
