"""The compiled engine: one event loop for all schemes.

=============== =================================================================
Module          Holds
=============== =================================================================
`engine`        runs the loop, piece by piece
`loop`          the event loop
`links`         ports: serialisation, queues, links that fail
`trees`         event trees
`packets`       the packet pool, the packet trace, the loss of packets
`world`         the arrays of a run and the record of their addresses
`sampling`      samples of fields
`pointers`      records of addresses, and functions that read a record there
`tables`        tables, own memory and hooks under the names of `primitives`
`bind`          the shared code of hosts and switches, with these names
`signatures`    the signature of each hook as Numba types
`jit`           how functions are compiled, and under which keys they are kept on disk
`whole_numbers` refuses fractions where hooks must give whole numbers
=============== =================================================================
"""
