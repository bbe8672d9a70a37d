"""`orchid.evidence/v1` and sets of it as they come in: fields, bounds, and what is refused.

Nothing here may carry what somebody wrote: unknown keys are refused, and keys under which senders
put prompts and answers are refused by name before anything else is looked at.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from controlplane.errors import BadInput
from gates.states import EvidenceKind
from orchid.engine.verdict.evidence import mean_and_spread
from orchid.engine.wire.fields import TEXT_FIELDS

#: Items of one set, single scores of one item and of a whole set: what one push may bring.
MOST_ITEMS, MOST_SCORES, MOST_SCORES_IN_SET = 1_000, 4_096, 100_000
#: Faults that one answer names.
MOST_FAULTS = 50
LONGEST_KEY = 400  # of a segment, with its names and values
#: How far a stated mean or spread may lie from that of the scores beside it.
ROUNDING = 1e-3

Name = Annotated[str, Field(min_length=1, max_length=120, pattern=r"^[\w.:+/ -]+$")]
Version = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[\w.:+/ -]+$")]
Route = Annotated[str, Field(min_length=1, max_length=80, pattern=r"^[\w.:+/ -]+$")]
Note = Annotated[str, Field(min_length=1, max_length=400)]
Unit = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Digest = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]
Scores = Annotated[list[Unit], Field(min_length=1, max_length=MOST_SCORES)]


class Store(BaseModel):
    """Where the items themselves are kept, for how long, and who may see them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    reference: Note
    retention: Name | None = None
    access: Note | None = None


class EvidenceItem(BaseModel):
    """One measured cell: a route under one manifest in one segment."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, populate_by_name=True, protected_namespaces=()
    )

    schema_: Literal["orchid.evidence/v1"] = Field("orchid.evidence/v1", alias="schema")
    kind: EvidenceKind
    suite: Name
    suite_version: Version
    index_version: Name | None = None
    model: Name | None = None
    model_version: Version | None = None
    prompt_version: Name | None = None
    route: Route
    manifest: Digest | None = None
    digest: Digest | None = None
    where: dict[Name, Name | Annotated[list[Name], Field(min_length=1)]] = Field(
        default_factory=dict
    )
    load_state: Name | None = None
    n: Annotated[int, Field(ge=1, le=10**12)]
    mean: Unit | None = None
    spread: Annotated[float, Field(ge=0, le=0.5, allow_inf_nan=False)] | None = None
    interval: tuple[Unit, Unit] | None = None
    scores: Scores | None = None
    violations: Annotated[int, Field(ge=0, le=2**31 - 1)] = 0
    rubric: Note | None = None
    rater_population: Note | None = None
    disagreement: Unit | None = None
    measured_at: AwareDatetime | None = None
    store: Store | None = None

    @field_validator("where")
    @classmethod
    def _has_room(cls, where: dict[str, Any]) -> dict[str, Any]:
        if sum(len(str(part)) + 2 for pair in where.items() for part in pair) > LONGEST_KEY:
            raise PydanticCustomError(
                "too_long", "at most {most} characters in all", {"most": LONGEST_KEY}
            )
        return where

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        faults = [
            InitErrorDetails(type=PydanticCustomError("disagrees", words), loc=(place,), input=None)
            for place, words in _disagreements(self)
        ]
        if faults:
            raise ValidationError.from_exception_data("evidence", faults)
        return self

    @property
    def score(self) -> tuple[float, float]:
        """Mean and sample deviation, as stated or else of the scores."""
        mean, spread = mean_and_spread(self.scores or [])
        return (
            mean if self.mean is None else self.mean,
            spread if self.spread is None else self.spread,
        )


def _disagreements(item: EvidenceItem) -> Iterator[tuple[str, Any]]:
    """What one field says against another, by field."""
    if item.scores is None:
        for name in ("mean", "spread"):
            if getattr(item, name) is None:
                yield name, "needed where no single scores are given"
    else:
        yield from _unlike_scores(item, item.scores)
    if item.interval and item.mean is not None:
        low, high = item.interval
        if not low <= item.mean <= high:
            yield "interval", "holds the mean: [low, high] with low <= mean <= high"
    if item.kind is EvidenceKind.HUMAN:
        for name in ("rubric", "rater_population", "disagreement"):
            if getattr(item, name) is None:
                yield name, "needed of a human evaluation"


def _unlike_scores(item: EvidenceItem, scores: list[float]) -> Iterator[tuple[str, str]]:
    if len(scores) != item.n:
        yield "n", f"{len(scores)} scores are given for {item.n} items"
    for name, computed in zip(("mean", "spread"), mean_and_spread(scores), strict=True):
        stated = getattr(item, name)
        if stated is not None and abs(stated - computed) > ROUNDING:
            yield name, f"the scores have {computed:.6f}"


def parsed_set(payload: Mapping[str, Any], slug: str) -> list[EvidenceItem]:
    """The items of a set (`items` or `evidence`: a list) or of a single piece, checked.

    A set may give `measured_at` once for all its items. Raises BadInput: `text_not_allowed`,
    `empty_evidence`, `too_large` or `invalid_evidence` with a pointer for each fault.
    """
    refuse_text(payload)
    cells, prefix = _cells(payload, slug)
    items, faults = [], []
    for place, cell in enumerate(cells):
        try:
            items.append(EvidenceItem.model_validate(cell))
        except ValidationError as error:
            faults += _faults(error, prefix.format(place) if prefix else "")
    if faults:
        raise invalid(faults)
    if sum(len(item.scores or ()) for item in items) > MOST_SCORES_IN_SET:
        raise BadInput("too_large", f"A set holds at most {MOST_SCORES_IN_SET:,} scores.")
    return items


def invalid(faults: list[dict[str, str]]) -> BadInput:
    """The answer to evidence that is none, with the first of its faults by place."""
    more = len(faults) - MOST_FAULTS
    said = f" {more} more faults are not listed." if more > 0 else ""
    return BadInput(
        "invalid_evidence", f"This is not orchid.evidence/v1.{said}", errors=faults[:MOST_FAULTS]
    )


def refuse_text(payload: Any) -> None:
    """Raise BadInput `text_not_allowed` where any key, however deep, is one of written text."""
    waiting: list[tuple[str, Any]] = [("", payload)]
    while waiting:
        at, value = waiting.pop()
        if isinstance(value, Mapping):
            for key, inner in value.items():
                if str(key).lower() in TEXT_FIELDS:
                    raise _text_at(f"{at}/{key}")
                waiting.append((f"{at}/{key}", inner))
        elif isinstance(value, list):
            waiting += [(f"{at}/{place}", one) for place, one in enumerate(value)]


def _text_at(pointer: str) -> BadInput:
    said = "Evidence carries scores and versions, never what was written. Leave this field out."
    fault = {"pointer": pointer, "text": "a field of written text"}
    return BadInput("text_not_allowed", said, errors=[fault])


def _cells(payload: Mapping[str, Any], slug: str) -> tuple[list[Any], str]:
    """The pieces, and how their places begin in a pointer."""
    name = next((key for key in ("items", "evidence") if key in payload), None)
    if name is None:
        return [payload], ""
    _check_envelope(payload, name, slug)
    cells = payload[name]
    if not isinstance(cells, list) or not cells:
        raise BadInput("empty_evidence", f"`{name}` has to be a list of at least one cell.")
    if len(cells) > MOST_ITEMS:
        raise BadInput("too_large", f"A set holds at most {MOST_ITEMS:,} cells; split it.")
    at = payload.get("measured_at")
    if at is not None:
        cells = [{"measured_at": at, **c} if isinstance(c, Mapping) else c for c in cells]
    return cells, f"/{name}/{{}}"


def _check_envelope(payload: Mapping[str, Any], name: str, slug: str) -> None:
    allowed = {"schema", "product", "measured_at", name}
    faults = [
        {"pointer": f"/{key}", "text": "a set has schema, product, measured_at and its items"}
        for key in payload
        if key not in allowed
    ]
    if payload.get("product", slug) != slug:
        faults.append({"pointer": "/product", "text": f"the set is pushed to {slug}"})
    if faults:
        raise invalid(faults)


def _faults(error: ValidationError, prefix: str) -> list[dict[str, str]]:
    return [
        {"pointer": f"{prefix}/" + "/".join(map(str, one["loc"])), "text": one["msg"]}
        for one in error.errors(include_url=False, include_input=False, include_context=False)
    ]
