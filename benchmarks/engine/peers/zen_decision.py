"""ZEN engine as its first page shows it: a decision object. Since 0.38 far slower than a loader."""

import zen

from benchmarks.engine.peers import Attributes, Decide
from benchmarks.engine.peers.zen_table import decision_graph
from orchid.engine.document.model import PolicyDocument

NAME, PACKAGE, WAY = "zen-engine", "zen-engine", " (decision object)"


def prepare(document: PolicyDocument) -> Decide:
    decision = zen.ZenEngine().create_decision(decision_graph(document))

    def decide(attributes: Attributes) -> bool:
        return bool(decision.evaluate(attributes)["result"]["allow"])

    return decide
