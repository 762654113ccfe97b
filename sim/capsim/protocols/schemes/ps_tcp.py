"""PS_TCP of mmptcp: long flows by packet scatter, short flows by TCP on a hashed path, without limited transmit."""

from dataclasses import replace

from capsim.protocols.schemes import ecmp, ps

SHORT = replace(ecmp.STACK, transport=ps.TRANSPORT)
SCHEME = replace(ps.SCHEME, name="ps_tcp", summary="long flows scattered, short TCP", short=SHORT)
