"""The real server with the conformance fixtures, over HTTP at a port or, for the bridge, on pipes: `python -m tests.mcp_server.verifiers.serve PORT|stdio`."""

from __future__ import annotations

import sys

import anyio
import uvicorn

from mcp_server.server import build_server
from mcp_server.sessions.pool import Pools
from mcp_server.transport.http import ListenAddress, make_app
from tests.mcp_server.verifiers.fixtures import graft

if __name__ == "__main__":
    server = graft(build_server(Pools(local=False)))
    if sys.argv[1] == "stdio":
        anyio.run(server.run_stdio_async)
        sys.exit()
    address = ListenAddress("127.0.0.1", int(sys.argv[1]))
    uvicorn.run(make_app(server, address), host=address.host, port=address.port, log_level="error")
