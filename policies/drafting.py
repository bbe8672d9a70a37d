"""A text that somebody is writing: its faults with their lines, or what it comes to."""

from dataclasses import dataclass
from decimal import Decimal

from orchid.engine.document import consistency
from orchid.engine.document.difference import Change, changes, required_approvals
from orchid.engine.document.findings import Finding
from orchid.engine.document.load import (
    DocumentError,
    DocumentErrors,
    LoadedDocument,
    load_document,
)
from orchid.engine.document.places import Places, places
from orchid.engine.economics import hourly_ledger_usd
from policies.models import Revision
from policies.selectors import document_of

SECONDS_PER_HOUR = 3600


@dataclass(frozen=True)
class Fault:
    """Why the text is no document of this product, and where it stands in it."""

    line: int
    error: DocumentError


@dataclass(frozen=True)
class Located:
    """A finding with the line that it is about."""

    line: int
    finding: Finding


@dataclass(frozen=True)
class Content:
    """What a sound text comes to, and what it changes against its base."""

    loaded: LoadedDocument
    base: Revision | None
    changes: list[Change]
    required_approvals: dict[str, int]
    hourly_usd: Decimal
    # At the bound of the cost gate this rate of successes just pays the hour; None at a bound of 0.
    successes_per_s: Decimal | None

    @property
    def is_base(self) -> bool:
        return self.base is not None and self.base.digest == self.loaded.digest


@dataclass(frozen=True)
class Draft:
    """The whole check of one text; `content` is None while the text has a fault."""

    faults: list[Fault]
    findings: list[Located]
    content: Content | None

    @property
    def errors(self) -> int:
        """Findings that would keep it from review."""
        return sum(one.finding.severity == "error" for one in self.findings)


def drafted(product_slug: str, text: str, base: Revision | None) -> Draft:
    """Check a text as it will be checked when it is stored and proposed; stores nothing."""
    where = places(text)
    try:
        loaded = load_document(text)
    except DocumentErrors as faults:
        return Draft([_fault(error, where) for error in faults.errors], [], None)
    if loaded.document.product != product_slug:
        return Draft([_fault(_other_product(loaded, product_slug), where)], [], None)
    found = consistency.find(loaded.document, base=document_of(base.digest) if base else None)
    located = [Located(where.line_of(finding.pointer), finding) for finding in found]
    return Draft([], located, _content(loaded, base))


def _fault(error: DocumentError, where: Places) -> Fault:
    return Fault(where.line_of(error.pointer), error)


def _other_product(loaded: LoadedDocument, slug: str) -> DocumentError:
    return DocumentError("/product", loaded.document.product, slug, "other_product")


def _content(loaded: LoadedDocument, base: Revision | None) -> Content:
    found = changes(base.document, loaded.given) if base else []
    ledger = hourly_ledger_usd(loaded.document)
    bound = loaded.document.gates.cost_per_success_usd.max
    return Content(
        loaded=loaded,
        base=base,
        changes=found,
        required_approvals=required_approvals(document_of(base.digest) if base else None, found),
        hourly_usd=ledger,
        successes_per_s=ledger / bound / SECONDS_PER_HOUR if bound else None,
    )
