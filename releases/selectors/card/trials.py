"""What was tried: declared loads computed through the document, and trials that were measured."""

from collections.abc import Mapping

from ingest.models import Trial
from ingest.selectors.trials import declarations
from orchid.engine.capacity import Load, trials
from orchid.engine.document.canonical import manifest_digest
from orchid.engine.document.model import PolicyDocument
from orchid.engine.trial_evidence import Fact, Support
from releases.selectors.card.answer import Answer, answered, missing
from releases.selectors.card.case import CardCase

#: The load of each question, and what it is called.
_LOADS = {
    "steady": "steady load",
    "spike": "1.4x spike",
    "candidate_overlap": "candidate rollout",
    "group_loss": "loss of a group",
}
#: Characters of a manifest's digest that are taken for naming it.
_SHORT = 12


def loads(case: CardCase) -> Answer:
    """Spike, rollout and loss against the safe capacity of the declared fleet."""
    found: Mapping[str, Load] = trials(case.document)
    said = "; ".join(
        f"{_LOADS[name]} {load.demand_teu_per_s:,.0f} of {load.capacity_teu_per_s:,.0f} TEU/s"
        for name, load in found.items()
        if name in _LOADS
    )
    against = [
        f"{_LOADS[name]} is over the safe capacity by {load.deficit_teu_per_s:,.0f} TEU/s"
        for name, load in found.items()
        if name in _LOADS and not load.fits
    ]
    links = [case.generation("Capacity", "capacity-head")]
    question = "Spike, candidate rollout, loss of a group?"
    return answered("loads", question, f"{said}.", links, against=against)


def burst(case: CardCase) -> Answer:
    """A long burst has no closed form: only a trial answers it."""
    question = "A burst of long requests?"
    links = [case.page("Trials", "ingest:trials")]
    mine = [trial for trial, support in case.trials if support.supports and of_this(case, trial)]
    if not mine:
        said = (
            "No complete open-loop trial that names a manifest of this document was run with long "
            "requests; Trials takes one, with its lengths and manifest declared."
        )
        return missing("burst", question, said, links)
    lengths = [_fact(trial, Fact.LENGTHS) for trial in mine]
    return answered("burst", question, f"Tried with {'; '.join(lengths)}.", links)


def tried(case: CardCase, regime: str) -> tuple[Trial, Support] | None:
    """A trial of these manifests that was run warm or cold and can be weighed.

    A trial that is warm alone supports no advance by itself; beside a cold one it is half of it.
    """
    for trial, support in case.trials:
        ran = {_fact(trial, Fact.RESIDENCY), _fact(trial, Fact.CACHE)}
        weighable = support.supports or (regime == "warm" and _warm_only(trial, support))
        if weighable and ran <= {regime, "both"} and of_this(case, trial):
            return trial, support
    return None


def of_this(case: CardCase, trial: Trial) -> bool:
    """Whether the trial names a manifest that the document pins."""
    named = _fact(trial, Fact.MANIFEST)
    return any(digest[:_SHORT] in named for digest in _digests(case.document))


def _digests(document: PolicyDocument) -> list[str]:
    """Hexadecimal digits alone: a declaration may leave out the name of the hash."""
    return [manifest_digest(m).removeprefix("sha256:") for m in document.models.values()]


def _warm_only(trial: Trial, support: Support) -> bool:
    """The one thing that speaks against it is that it was warm."""
    return len(support.reasons) == 1 and support.reasons[0].startswith("Warm only")


def _fact(trial: Trial, fact: Fact) -> str:
    return next(one.value for one in declarations(trial) if one.fact is fact)
