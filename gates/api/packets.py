"""Packets for machines: canonical JSON, whose very bytes matter."""

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.guard import Permission
from controlplane.errors import NotFound
from gates.api.asked import GENERATION, number_of, visible_product
from gates.selectors.evaluations import evaluation_of
from gates.selectors.packets import evaluation_as_packet, figures_as_packet
from gates.selectors.verdicts import latest, live_window
from policies import selectors as policies
from policies.models import Product, Revision

PACKET = {(200, "application/json"): OpenApiTypes.OBJECT}


class EvaluationPacket(APIView):
    @extend_schema(responses=PACKET)
    def get(self, request: Request, slug: str, pk: int) -> HttpResponse:
        """Everything that an evaluation rests on, to be recomputed offline."""
        product = visible_product(request, slug, Permission.VIEW)
        evaluation = evaluation_of(product, pk)
        return packet_response(evaluation_as_packet(evaluation))


class LatestPacket(APIView):
    @extend_schema(responses=PACKET)
    def get(self, request: Request, slug: str) -> HttpResponse:
        """The same of what is judged now of what is live."""
        window = live_window(visible_product(request, slug, Permission.VIEW))
        evaluation = latest(window) if window else None
        if evaluation is None:
            raise NotFound("not_judged", "Nothing has been judged there yet.")
        return packet_response(evaluation_as_packet(evaluation))


class FiguresPacket(APIView):
    @extend_schema(responses=PACKET, parameters=[GENERATION])
    def get(self, request: Request, slug: str) -> HttpResponse:
        """The figures of a generation, and of the points that the product declares."""
        product = visible_product(request, slug, Permission.VIEW)
        number = number_of(request, "generation")
        return packet_response(figures_as_packet(product, _revision(product, number)))


def packet_response(packet: bytes) -> HttpResponse:
    return HttpResponse(packet, content_type="application/json")


def _revision(product: Product, number: int | None) -> Revision:
    """The latest of the generation; without a number, of what is live, else of the newest."""
    if number is not None:
        return policies.revision(policies.generation(product, number))
    window = live_window(product)
    if window is not None:
        return policies.revision_by_digest(product, window.digest)
    newest = policies.generations(product).first()
    if newest is None:
        raise NotFound("not_found", f"{product.slug} has no generation.")
    return policies.revision(newest)
