"""Declared cases, diagnosed under the product's latest generation."""

from dataclasses import dataclass
from fractions import Fraction

from gates.models import DeclaredCase
from orchid.engine.diagnosis.declared import CaseSegment, Told, read_case, tell
from orchid.engine.document.wording import selector_words
from orchid.engine.segments import dims_of
from policies.models import Product
from policies.selectors import document_of, generations, revision


@dataclass(frozen=True)
class CaseShown:
    """A case with what follows from it, as its page reads it; shares are parts of 1."""

    told: Told

    @property
    def name(self) -> str:
        return self.told.case.name

    @property
    def rows(self) -> list[tuple[str, str, str]]:
        """What is declared or follows from it: its name, its figure, where it comes from."""
        case, told = self.told.case, self.told
        return [
            ("Accelerator time", _change(Fraction(case.accelerator_time)), "declared"),
            ("Cost per admitted", _change(Fraction(case.cost_per_admitted)), "declared"),
            ("Cost per success", _change(Fraction(case.cost_per_success)), "declared"),
            ("Successes per admitted", _change(told.successes), "follows from the two costs"),
            (
                "explained by failures and retries",
                _change(told.explained),
                "the most that they can be, every retry failing too",
            ),
            ("not explained", _change(told.residual), "what is left: measure it"),
        ]

    @property
    def failures(self) -> list[tuple[str, str, str, str, str]]:
        """By segment: the routes, and the schema failures before and after."""
        return [
            (
                selector_words(one.where),
                f"{one.from_} to {one.to}",
                _percent(Fraction(one.schema_failures.before)),
                _percent(Fraction(one.schema_failures.after)),
                self._then(one),
            )
            for one in self.told.case.segments
        ]

    @property
    def cause(self) -> str:
        """The segment that explains most of the violations."""
        return selector_words(dims_of(self.told.violations.by_segment()[0].name))

    def _then(self, segment: CaseSegment) -> str:
        if not self.stays(selector_words(segment.where)):
            return "leaves fallback"
        return "stays on fallback" + (", above its floor (declared)" * segment.clears_floor)

    def stays(self, words: str) -> bool:
        """Whether the proposal leaves a segment on fallback."""
        proposal = self.told.proposal
        edits = proposal.change.edits if proposal else ()
        return all(selector_words(edit.value["where"]) != words for edit in edits)


def declared_cases(product: Product) -> list[CaseShown]:
    """Every case of the product, each told under the document of its latest generation."""
    rows = list(DeclaredCase.objects.filter(product=product).order_by("id"))
    latest = generations(product).first() if rows else None
    if latest is None:
        return []
    document = document_of(revision(latest).digest)
    return [CaseShown(tell(read_case(row.text), document)) for row in rows]


def _change(ratio: Fraction) -> str:
    """`−22.6 %` for 0.774."""
    moved = float(ratio - 1) * 100
    return f"{'−' if moved < 0 else '+'}{abs(moved):.1f} %"


def _percent(share: Fraction) -> str:
    return f"{float(share) * 100:.1f} %"
