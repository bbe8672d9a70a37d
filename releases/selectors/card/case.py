"""What the review card reads, gathered once: documents, the signed trade, what was seen."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from django.urls import reverse

from gates.models import Evaluation
from gates.selectors.calibration import Calibrated, calibrated
from gates.selectors.coverage import supports
from gates.selectors.evidence import book_for
from ingest.models import Trial
from orchid.engine.document.consistency import Finding, RouteUtility, find
from orchid.engine.document.model import PolicyDocument
from orchid.engine.trial_evidence import Support
from orchid.engine.verdict.evidence import Book
from policies.models import Product
from policies.selectors import document_of
from releases.models import Proposal
from releases.services.issue import latest

Link = tuple[str, str]


@dataclass(frozen=True)
class CardCase:
    """A proposal with what its questions are answered from; each part is read when first asked."""

    proposal: Proposal
    now: datetime

    @property
    def product(self) -> Product:
        return self.proposal.product

    @cached_property
    def document(self) -> PolicyDocument:
        """What is proposed."""
        return document_of(self.proposal.revision_digest)

    @cached_property
    def base(self) -> PolicyDocument | None:
        """What was live when it was submitted; before that, what it would be compared with now."""
        digest = self.proposal.base_digest or self._live_digest
        return document_of(digest) if digest else None

    @property
    def _live_digest(self) -> str:
        live = latest(self.product)
        return live.target_digest if live else ""

    @property
    def unmeasured(self) -> str:
        """Why there is no judgement to quote."""
        if self.base and not self.trade:
            return "The requests of what is live are read when it is submitted"
        return "Nothing measured is live"

    @property
    def ruling(self) -> PolicyDocument:
        """Whose rules of approval hold: no document lowers those of its own change."""
        return self.base or self.document

    @property
    def trade(self) -> Mapping[str, Any]:
        """The signed trade; empty before the first submission."""
        signed: Mapping[str, Any] = self.proposal.trade
        return signed

    @cached_property
    def measured(self) -> Evaluation | None:
        """The judgement of the live generation that the trade is taken against."""
        base = self.trade.get("base")
        return Evaluation.objects.filter(pk=base["evaluation"]).first() if base else None

    @property
    def populations(self) -> Mapping[str, int]:
        """What became of the live generation's requests."""
        figures = self.measured.figures if self.measured else {}
        found: Mapping[str, int] = figures.get("whole", {}).get("populations", {})
        return found

    @cached_property
    def book(self) -> Book:
        """The evidence in force on the models that it pins."""
        return book_for(self.product, self.document, self.now)

    @cached_property
    def findings(self) -> dict[str, list[Finding]]:
        """What contradicts in the document, by the check that tells it."""
        known = [RouteUtility(item.route, item.where, item.mean) for item in self.book.valid]
        found: dict[str, list[Finding]] = {}
        for finding in find(self.document, base=self.base, evidence=known):
            found.setdefault(finding.code, []).append(finding)
        return found

    def told(self, *codes: str) -> list[str]:
        """What some of the checks say against the document."""
        return [finding.text for code in codes for finding in self.findings.get(code, [])]

    @cached_property
    def calibrated(self) -> Calibrated:
        """How the demand model in force stands."""
        return calibrated(self.product, self.now)

    @cached_property
    def trials(self) -> list[tuple[Trial, Support]]:
        """The newest measured trials, each with whether it can support an advance."""
        return supports(self.product)

    def generation(self, label: str, anchor: str) -> Link:
        """A section of the proposed generation's page."""
        number = self.proposal.generation.number
        url = reverse("policies:generation", args=[self.product.slug, number])
        return label, f"{url}#{anchor}"

    def page(self, label: str, name: str, *args: object) -> Link:
        """A page of the product."""
        return label, reverse(name, args=[self.product.slug, *args])

    def judgement(self) -> list[Link]:
        """The judgement that the trade rests on, where there is one."""
        if self.measured is None:
            return []
        return [self.page("The live judgement", "gates:evaluation", self.measured.pk)]
