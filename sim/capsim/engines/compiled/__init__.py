"""The compiled engine: one event loop for all schemes.

=============== =================================================================
Module          Holds
=============== =================================================================
`engine`        runs the loop, piece by piece
`loop`          the event loop
`links`         ports: serialisation, queues, links that fail
`order`         which event is next
`packets`       the packet pool, the packet trace, the loss of packets
`world`         the arrays of a run and the record of their addresses
`sampling`      samples of fields
`pointers`      records of addresses, and functions that read a record there
`tables`        tables, own memory and hooks under the names of `primitives`
`bind`          the shared code of hosts and switches, with these names
`aliasing`      what LLVM is told of the records' fields
`signatures`    the signature of each hook as Numba types
`jit`           how functions are compiled, and under which keys they are kept on disk
`refusals`      refuses what hooks must not return or write
=============== =================================================================
"""
