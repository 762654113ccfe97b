"""Completion times of transport schemes on a fabric, in closed form: what a run of packets shows, without packets.

Poisson arrivals between random pairs of hosts, at a load below 1 on every layer of links. A flow shares its links with
those that it meets; what the scheme adds is how it begins, what stands at its ports and in which order hosts send.
:func:`capsmodel.predict_fct` computes them; formulas stand in the modules.

============ =======================================================================
Module       Holds
============ =======================================================================
`fabric`     a fabric as its layers of links
`schemes`    what a formula must know of a scheme
`sharing`    slowdown of flows that share host links and inner links
`start`      time that a growing window leaves its NIC idle
`waits`      what a packet finds at NICs, ports and inner links
`states`     values with probabilities: their mean and quantiles
`completion` completion times of short and long flows, and what they rest on
============ =======================================================================
"""
