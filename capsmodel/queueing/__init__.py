"""Queues: Poisson arrivals at one port.

============ ==================================================================
Module       Holds
============ ==================================================================
`mg1`        M/G/1 waits: mean, tail, quantile, priorities
`service`    distributions of the service time
`srpt`       mean response time with the shortest remaining time first
`transforms` numerical inversion of the tail of the wait
============ ==================================================================
"""
