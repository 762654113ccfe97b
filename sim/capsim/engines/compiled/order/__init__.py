"""Which event is next.

========= ===================================================================================
Module    Holds
========= ===================================================================================
`trees`   trees of the next event of each port, timer or host
`agenda`  the next arrivals, in time buckets, of fabrics with many ports
`ordered` departures and arrivals in order of scheduling, where a run asks for it
========= ===================================================================================
"""
