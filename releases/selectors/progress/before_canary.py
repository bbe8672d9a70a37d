"""The stages in which the candidate answers nobody, each with facts of its own."""

from collections.abc import Iterator

from controlplane import figures
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
    asked = figures.share(least)
    if not found.completed:
        said = "No completed request has been recorded in this stage."
        return Condition("survival", False, said, "no data", asked)
    share = figures.share(found.share, beside=least)
    said = (
        f"{found.survived:,} of {found.completed:,} completed requests ({share}) are "
        f"known to every account by their id; fewest to {found.weakest}."
    )
    return Condition("survival", found.share >= least, said, share, asked)


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
    asked = f"{figures.share(most)} at most"
    if not predicted:
        said = "No request has told the TEU that it used."
        return Condition("teu_error", False, said, "no data", asked)
    error = off / predicted
    off_by = figures.share(error, beside=most)
    said = f"TEU are {off_by} from what was predicted, cell by cell."
    return Condition("teu_error", error <= most, said, off_by, asked)


def _agreement(found: Agreement, decisions: int, least: float | None) -> Iterator[Condition]:
    yield _enough(found, decisions, "decisions were made on both sides")
    if least is not None:
        share = found.share or 0.0
        now = figures.share(share, beside=least)
        said = f"The candidate decides as the incumbent in {now} of {found.decisions:,}."
        met = found.share is not None and share >= least
        yield Condition("agreement", met, said, now, figures.share(least))


def _refused(found: Agreement, most: float) -> Iterator[Condition]:
    yield _enough(found, DECISIONS, "decisions were made under the candidate’s limits")
    share = found.refused_share or 0.0
    now = figures.share(share, beside=most)
    said = f"The limits refuse {now} that would have been served ({found.refused:,})."
    yield Condition("refused", share <= most, said, now, f"{figures.share(most)} at most")


def _enough(found: Agreement, decisions: int, what: str) -> Condition:
    said = f"{found.decisions:,} of {decisions:,} {what}."
    met = found.decisions >= decisions
    return Condition("decisions", met, said, f"{found.decisions:,}", f"{decisions:,}")
