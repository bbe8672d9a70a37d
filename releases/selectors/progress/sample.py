"""The least that a stage must have seen of every stratum: silence in one is no agreement."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta

from ingest.selectors import counted
from orchid.engine.units import stratum_name
from releases.selectors.progress.condition import Condition, Stand
from releases.selectors.progress.demand import demand

#: How far back a stratum must have had a request to be one that is waited for.
KNOWN_FOR = timedelta(days=1)
SHOWN = 8

Within = Callable[[Mapping[str, str]], bool]


def minimum_per_stratum(
    stand: Stand, minimum: int, segment: str, within: Within
) -> Iterator[Condition]:
    """A condition for each stratum that falls short, or one that says that none does.

    `within` says which strata are meant: those of the segment apart, or ("") of the rest.
    """
    seen = _ended(stand, within)
    short = sorted((n, name) for name, n in seen.items() if n < minimum)
    if not seen:
        whose = f" of {segment}" if segment else ""
        said = f"No request{whose} has come yet, so no stratum has its {minimum:,}."
        yield Condition("sample", False, said, "0", f"{minimum:,} in each stratum")
    for n, name in short[:SHOWN]:
        said = f"{n:,} of {minimum:,} requests in stratum {name.replace('|', ', ')}."
        yield Condition("sample", False, said, f"{n:,}", f"{minimum:,}", of=name.replace("|", ", "))
    if len(short) > SHOWN:
        said = f"{len(short) - SHOWN} more strata have fewer than {minimum:,} requests."
        yield Condition("sample", False, said)
    if seen and not short:
        said = f"Each of {len(seen)} strata has its {minimum:,} requests."
        yield Condition("sample", True, said, f"{min(seen.values()):,}", f"{minimum:,}")


def _ended(stand: Stand, within: Within) -> Counter[str]:
    """The candidate's ended requests by stratum, with 0 for those that it has not met."""
    strata = stand.document.rollout.strata
    seen = Counter[str]()
    if stand.opened_at is None:
        return seen
    for dims in demand(stand.product, stand.opened_at - KNOWN_FOR, stand.now).segments:
        if within(dims):
            seen[stratum_name(strata, dims)] += 0
    stream = (stand.product, stand.rollout.candidate_digest, stand.publication.number, "candidate")
    found = counted(*stream, stand.opened_at, stand.now)
    for name, n in zip(found.cells, found.of("latency_counted").tolist(), strict=True):
        if within(name.dims):
            seen[stratum_name(strata, name.dims)] += n
    return seen
