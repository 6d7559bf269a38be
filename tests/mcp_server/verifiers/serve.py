"""The real server with the conformance fixtures, over HTTP at a port: `python -m tests.mcp_server.verifiers.serve PORT`.

The older era's scenarios ask the client back in the middle of a call, which needs a connection that stands; so this serves with sessions, where `ctxfold serve`
keeps none.
"""

from __future__ import annotations

import sys

import uvicorn

from mcp_server.server import build_server
from mcp_server.sessions.pool import Desks
from mcp_server.transport.http import Door
from tests.mcp_server.verifiers.fixtures import graft

if __name__ == "__main__":
    door = Door("127.0.0.1", int(sys.argv[1]))
    server = graft(build_server(Desks(files=False)))
    uvicorn.run(
        server.streamable_http_app(transport_security=door.security), host=door.host, port=door.port, log_level="error"
    )
