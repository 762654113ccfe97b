"""The ground that all of the simulator stands on.

=============== =================================================================
Module          Holds
=============== =================================================================
`clock`         time: int64 picoseconds, one rounding rule
`bounds`        the range of every quantity, stated once
`schema`        the columns of the result tables
`structs`       plain tables to checked structs
`seeds`         all randomness of a run from one seed, a stream for each purpose
`randomness`    numbers that are a function of a key and a count
`labels`        the path that a packet is to take, as one number
`inlined`       the mark of functions that hooks call
`memory`        how much memory is free
=============== =================================================================
"""
