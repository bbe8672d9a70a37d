"""`python -m benchmarks.ingest [NAME...]`: one JSON line a figure on standard output.

Those of a peer that is not installed with the others run only with PEER=1.
"""

import os

from benchmarks.parts import main

TOOLS = ("database", "peer_rows", "traffic", "worker")
PEERS = ("phoenix",)

if __name__ == "__main__":
    main("benchmarks.ingest", tools=TOOLS if os.environ.get("PEER") else (*TOOLS, *PEERS))
