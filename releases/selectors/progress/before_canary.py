"""The stages in which the candidate answers nobody, each with facts of its own."""

from collections.abc import Iterator

from ingest.selectors import counted
from ingest.selectors.survival import survival
from ingest.states import ShadowMode
from orchid.engine.rollup import mean_of
from releases.selectors.progress.condition import Condition, Stand
from releases.selectors.shadow import Agreement, agreement

#: Decisions below which a share of them says nothing, where the stage names no number.
DECISIONS = 200


def own_facts(stand: Stand) -> Iterator[Condition]:
    """What the stage bounds; a stage that bounds nothing waits for a person."""
    stage = stand.stage
    if stage.survival is not None:
        yield _survival(stand, stage.survival)
    if stage.teu_error is not None:
        yield _teu_error(stand, stage.teu_error)
    if stage.agreement is not None or stage.decisions is not None:
        found = agreement(stand.product, stand.publication)
        yield from _agreement(found, stage.decisions or DECISIONS, stage.agreement)
    if stage.max_refused is not None:
        found = agreement(stand.product, stand.publication, ShadowMode.HARD_LIMITS)
        yield from _refused(found, stage.max_refused)


def _survival(stand: Stand, least: float) -> Condition:
    """Requests that every account knows: as prepared, on the device, validated and billed."""
    found = survival(stand.product, stand.opened_at or stand.now, stand.now)
    asked = f"{least:.1%}"
    if not found.completed:
        said = "No completed request has been recorded in this stage."
        return Condition("survival", False, said, "no data", asked)
    said = (
        f"{found.survived:,} of {found.completed:,} completed requests ({found.share:.1%}) are "
        f"known to every account by their id; fewest to {found.weakest}."
    )
    return Condition("survival", found.share >= least, said, f"{found.share:.1%}", asked)


def _teu_error(stand: Stand, most: float) -> Condition:
    """By cell, so that what is over in one doesn't hide what is under in another."""
    stream = (stand.product, stand.publication.incumbent_digest, stand.publication.number)
    found = counted(*stream, "incumbent", stand.opened_at or stand.now, stand.now)
    off, predicted = 0.0, 0.0
    for cell in found.sums():
        told, seen = cell.figures.get("teu_predicted"), cell.figures.get("teu_observed")
        if not told or not seen or not told.count or not seen.count:
            continue
        mean, came = mean_of("teu_predicted", told) or 0.0, mean_of("teu_observed", seen) or 0.0
        off += seen.count * abs(came - mean)
        predicted += seen.count * mean
    asked = f"{most:.1%} at most"
    if not predicted:
        said = "No request has told the TEU that it used."
        return Condition("teu_error", False, said, "no data", asked)
    error = off / predicted
    said = f"TEU are {error:.1%} from what was predicted, cell by cell."
    return Condition("teu_error", error <= most, said, f"{error:.1%}", asked)


def _agreement(found: Agreement, decisions: int, least: float | None) -> Iterator[Condition]:
    yield _enough(found, decisions, "decisions were made on both sides")
    if least is not None:
        share = found.share or 0.0
        said = f"The candidate decides as the incumbent in {share:.1%} of {found.decisions:,}."
        met = found.share is not None and share >= least
        yield Condition("agreement", met, said, f"{share:.1%}", f"{least:.1%}")


def _refused(found: Agreement, most: float) -> Iterator[Condition]:
    yield _enough(found, DECISIONS, "decisions were made under the candidate’s limits")
    share = found.refused_share or 0.0
    said = f"The limits refuse {share:.1%} that would have been served ({found.refused:,})."
    yield Condition("refused", share <= most, said, f"{share:.1%}", f"{most:.1%} at most")


def _enough(found: Agreement, decisions: int, what: str) -> Condition:
    said = f"{found.decisions:,} of {decisions:,} {what}."
    met = found.decisions >= decisions
    return Condition("decisions", met, said, f"{found.decisions:,}", f"{decisions:,}")
