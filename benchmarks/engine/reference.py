"""The reference document, compiled."""

from benchmarks.engine.documents import REFERENCE
from orchid.engine.admission.policy import CompiledPolicy, compile_policy
from orchid.engine.document.load import load_document


def reference_policy() -> CompiledPolicy:
    loaded = load_document(REFERENCE.read_bytes())
    return compile_policy(loaded.document, digest=loaded.digest)
