"""Queues: Poisson arrivals at one port, or at many of which a switch chooses.

============== ==================================================================
Module         Holds
============== ==================================================================
`drawn_queues` many ports, each packet to the shortest queue of a few drawn ones
`mg1`          M/G/1 waits: mean, tail, quantile, priorities
`service`      distributions of the service time
`srpt`         mean response time with the shortest remaining time first
`transforms`   numerical inversion of the tail of the wait
============== ==================================================================
"""
