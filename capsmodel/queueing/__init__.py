"""Queues: Poisson arrivals at one port, or at many of which a switch chooses.

============== ==================================================================
Module         Holds
============== ==================================================================
`drawn_queues` many ports, each packet to the shortest queue of a few drawn ones
`mg1`          M/G/1 waits: mean, tail, quantile, priorities
`phases`       tail of the wait for service in exponential phases
`roots`        roots between two ends, and the equation of the decay rate
`service`      distributions of the service time
`settling`     how far a run that begins empty comes to its load
`srpt`         mean response time with the shortest remaining time first
`steady_flows` flows around those that count, so that these meet the steady state
`transforms`   tail of the wait for atoms, and by inversion of its transform
============== ==================================================================
"""
