"""Packets: what an evaluation rests on, or the figures of a document, as bytes for others."""

from typing import Any

from controlplane.errors import Conflict
from gates.models import Evaluation, Evidence
from gates.selectors.declared import declared_content
from gates.selectors.evaluations import case_bytes
from orchid.engine.document.load import load_document
from orchid.engine.packet import Beside, PacketError, evaluation_packet, figures_packet
from orchid.engine.packet.evaluation import evidence_named
from policies.models import Product, Revision


def evaluation_as_packet(evaluation: Evaluation) -> bytes:
    """The packet of an evaluation, which holds its case whole: nothing has to be kept for it.

    Raises NotFound where the case is no longer kept, Conflict where no packet can be made of it.
    """
    case = case_bytes(evaluation)
    try:
        evidence = _contents(evaluation, evidence_named(case))
        return evaluation_packet(case, evidence, _recorded(evaluation))
    except PacketError as error:
        raise Conflict("no_packet", f"No packet of evaluation {evaluation.pk}: {error}.") from error


def figures_as_packet(product: Product, revision: Revision) -> bytes:
    """The figures that a stored document gives, with the points that the product declares."""
    document = load_document(revision.document)
    try:
        return figures_packet(document, Beside(declared=declared_content(product)))
    except PacketError as error:
        raise Conflict("no_packet", f"No figures of {revision.digest}: {error}.") from error


def _contents(evaluation: Evaluation, digests: list[str]) -> list[dict[str, Any]]:
    """Evidence in full, of which the case holds what a verdict reads."""
    found = Evidence.objects.filter(product=evaluation.window.product_id, digest__in=digests)
    return list(found.values_list("content", flat=True))


def _recorded(evaluation: Evaluation) -> dict[str, Any]:
    """What was stored at the time, by which the recomputed judgement is held."""
    window = evaluation.window
    return {
        "evaluation": evaluation.pk,
        "publication": window.publication,
        "cohort": window.cohort,
        "evaluated_at": evaluation.evaluated_at.isoformat(),
        "watermark": evaluation.watermark.isoformat(),
        "verdict": evaluation.verdict,
        "action": evaluation.action,
        "inputs_digest": evaluation.inputs_digest,
        "outcome_digest": evaluation.outcome_digest,
        "evidence_digest": evaluation.evidence_digest,
    }
