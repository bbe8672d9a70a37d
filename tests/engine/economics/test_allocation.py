"""What is laid on requests, the promise and the deployment is the ledger, to the last part."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchid.engine.document.load import LoadedDocument
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.money import Allocation
from orchid.engine.economics import hourly_ledger_usd
from orchid.engine.economics.allocation import split
from orchid.engine.economics.display import in_cents
from orchid.engine.economics.ledger import Run, ledger, parts_of_usd, usd_of_parts
from orchid.engine.economics.statement import Traffic, statement, working_routes
from orchid.engine.rollup import CAUSES, Sums

BEGIN = datetime(2026, 1, 1, 9, tzinfo=UTC)
HOUR = timedelta(hours=1)
MINUTES = st.integers(0, 180)


@pytest.fixture(scope="module")
def documents(demo: tuple[LoadedDocument, LoadedDocument]) -> dict[str, PolicyDocument]:
    return {one.digest: one.document for one in demo}


def run(documents: dict[str, PolicyDocument], which: int = 0, **fields: Any) -> Run:
    digest = list(documents)[which]
    wish: dict[str, Any] = {"publication": 1, "cohort": "incumbent", "exposure": 1.0}
    times: dict[str, Any] = {"start": BEGIN, "end": BEGIN + HOUR}
    return Run(digest=digest, document=documents[digest], **wish | times | fields)


def sums(requests: int = 0, usd: str = "0", **figures: float) -> Sums:
    found = Sums(records=requests)
    found.counters.update({"eligible": requests, "admitted": requests})
    found.add_usd(Decimal(usd))
    for name, value in figures.items():
        found.observe(name, value)
    return found


def traffic(digest: str, key: str = "a", route: str | None = "full", **fields: Any) -> Traffic:
    wish: dict[str, Any] = {"hour_at": BEGIN, "cohort": "incumbent", "successes": 0}
    return Traffic(digest=digest, key=key, route=route, **wish | fields)


def stated(documents: dict[str, PolicyDocument], runs: list[Run], rows: list[Traffic]) -> Any:
    hours = ledger(runs, BEGIN, BEGIN + 3 * HOUR)
    return statement(hours, rows, documents, working_routes(rows, documents))


@st.composite
def any_traffic(draw: st.DrawFn, digests: list[str], keys: str = "abc") -> Traffic:
    requests = draw(st.integers(0, 10_000))
    work = draw(st.floats(0, 1e9))
    found = sums(requests, str(draw(st.decimals(0, 1000, places=9))), work_teu=work, attempts=1)
    if draw(st.booleans()):
        found.observe("accelerator_ms", work)
    for cause in CAUSES:
        found.observe(f"wasted_{cause}_teu", draw(st.floats(0, 1)) * work / len(CAUSES))
    return traffic(
        draw(st.sampled_from(digests)),
        draw(st.sampled_from(keys)),
        draw(st.sampled_from(["full", "compact", "cached", None])),
        hour_at=BEGIN + draw(st.integers(0, 2)) * HOUR,
        cohort=draw(st.sampled_from(["incumbent", "candidate", "shadow"])),
        sums=found,
        successes=draw(st.integers(0, requests)),
    )


RULES = st.builds(
    Allocation,
    direct=st.sampled_from(["teu", "accelerator_ms"]),
    residency=st.sampled_from(["replicas", "weights", "equal"]),
    reserve=st.sampled_from(["requests", "teu", "successes", "equal"]),
    common=st.sampled_from(["requests", "teu", "successes", "equal"]),
    investment=st.sampled_from(["apart", "common"]),
)


@settings(max_examples=150, deadline=None)
@given(data=st.data(), rule=RULES)
def test_every_dollar_of_the_ledger_is_laid_somewhere_and_once(
    documents: dict[str, PolicyDocument], data: st.DataObject, rule: Allocation
) -> None:
    ruled = {d: one.model_copy(update={"allocation": rule}) for d, one in documents.items()}
    runs = []
    for _ in range(data.draw(st.integers(0, 4))):
        first, last = sorted((data.draw(MINUTES), data.draw(MINUTES)))
        runs.append(
            run(
                ruled,
                data.draw(st.integers(0, 1)),
                publication=data.draw(st.integers(1, 3)),
                cohort=data.draw(st.sampled_from(["incumbent", "candidate", "shadow"])),
                exposure=data.draw(st.sampled_from([0.1, 1.0])),
                start=BEGIN + timedelta(minutes=first),
                end=BEGIN + timedelta(minutes=last),
            )
        )
    rows = data.draw(st.lists(any_traffic(list(ruled)), max_size=12))
    found = stated(ruled, runs, rows)
    assert found.allocated.total == found.total
    assert all(part >= 0 for part in found.allocated.promise.values())
    assert found.allocated.investment >= 0
    external = sum((row.sums.cost_usd for row in rows), Decimal(0))
    spent = sum((hour.total_parts for hour in found.hours), 0)
    assert usd_of_parts(found.total) == usd_of_parts(spent) + external
    for key, entry in found.entries.items():
        assert entry.wasted.usd <= found.allocated.of(key).direct + found.allocated.investment
    laid = {key: charge.total for key, charge in found.allocated.charges.items()}
    everything = laid | {"promise": found.allocated.promise.total()}
    everything["investment"] = found.allocated.investment
    assert sum(in_cents(everything).values()) == in_cents({"": found.total})[""]


@given(st.integers(0, 10**20), st.lists(st.integers(0, 10**12), min_size=1))
def test_a_split_gives_out_all_and_no_more(parts: int, weights: list[int]) -> None:
    if not any(weights):
        with pytest.raises(ValueError, match="weight"):
            split(parts, weights)
        return
    found = split(parts, weights)
    assert sum(found) == parts
    whole = sum(weights)
    for share, weight in zip(found, weights, strict=True):
        assert abs(share - parts * weight // whole) <= 1


def test_work_pays_for_the_devices_it_kept_busy(documents: dict[str, PolicyDocument]) -> None:
    first = next(iter(documents))
    fleet = documents[first].fleet
    half = float(fleet.devices * fleet.raw_teu_per_s * 3600) / 2
    rows = [traffic(first, sums=sums(1, work_teu=half))]
    charge = stated(documents, [run(documents)], rows).allocated.of("a")
    devices = fleet.devices * fleet.device_usd_per_h
    assert usd_of_parts(charge.direct) == devices / 2
    assert usd_of_parts(charge.common) == fleet.overhead_usd_per_h
    assert usd_of_parts(charge.reserve) == devices * (1 - fleet.safe_factor)


def test_an_idle_fallback_is_the_price_of_the_promise(
    documents: dict[str, PolicyDocument],
) -> None:
    second = list(documents)[1]
    fleet = documents[second].fleet
    rows = [traffic(second, sums=sums(100, work_teu=1000.0))]
    found = stated(documents, [run(documents, 1)], rows).allocated
    ready = usd_of_parts(found.of("a").residency + found.promise["compact"])
    assert found.promise["compact"] > 0
    assert fleet.replicas == {"full": 4, "compact": 4}
    assert usd_of_parts(found.promise["compact"]) == ready / 2


def test_an_hour_without_requests_is_all_promise(documents: dict[str, PolicyDocument]) -> None:
    found = stated(documents, [run(documents)], [])
    first = next(iter(documents.values()))
    assert usd_of_parts(found.allocated.promise.total()) == hourly_ledger_usd(first)


def test_a_candidate_that_is_tried_is_investment_beyond_its_work(
    documents: dict[str, PolicyDocument],
) -> None:
    second = list(documents)[1]
    tried = run(documents, 1, publication=2, cohort="candidate", exposure=0.1)
    rows = [traffic(second, cohort="candidate", sums=sums(10, work_teu=720_000.0))]
    found = stated(documents, [run(documents), tried], rows)
    fleet = documents[second].fleet
    direct = usd_of_parts(found.allocated.of("a").direct)
    assert direct == fleet.devices * fleet.device_usd_per_h * 720_000 / (
        fleet.devices * fleet.raw_teu_per_s * 3600
    )
    assert usd_of_parts(found.allocated.investment) == hourly_ledger_usd(documents[second]) - direct


def test_shadow_work_is_paid_by_the_deployment(documents: dict[str, PolicyDocument]) -> None:
    first = next(iter(documents))
    rows = [
        traffic(first, "tenant", sums=sums(1, work_teu=9000.0)),
        traffic(first, "copy", cohort="shadow", sums=sums(1, "0.25", work_teu=27_000.0)),
    ]
    found = stated(documents, [run(documents)], rows).allocated
    assert "copy" not in found.charges
    assert usd_of_parts(found.investment) == usd_of_parts(3 * found.of("tenant").direct) + Decimal(
        "0.25"
    )


def test_two_windows_of_one_pool_are_paid_once(documents: dict[str, PolicyDocument]) -> None:
    half = HOUR / 2
    runs = [
        run(documents, end=BEGIN + half + timedelta(minutes=10)),
        run(documents, publication=2, start=BEGIN + half),
    ]
    (hour,) = ledger(runs, BEGIN, BEGIN + HOUR)
    first = next(iter(documents.values()))
    assert usd_of_parts(hour.total_parts) == hourly_ledger_usd(first)


def test_incumbent_and_candidate_pools_share_the_hour(
    documents: dict[str, PolicyDocument],
) -> None:
    runs = [
        run(documents, exposure=0.9),
        run(documents, 1, publication=1, cohort="candidate", exposure=0.1),
    ]
    hours = ledger(runs, BEGIN, BEGIN + HOUR)
    whole = sum((hourly_ledger_usd(one) for one in documents.values()), Decimal(0))
    assert usd_of_parts(sum(hour.total_parts for hour in hours)) == whole


def test_time_on_devices_measures_work_only_where_all_told_it(
    documents: dict[str, PolicyDocument],
) -> None:
    first = next(iter(documents))
    rule = Allocation(direct="accelerator_ms")
    ruled = {d: one.model_copy(update={"allocation": rule}) for d, one in documents.items()}
    told = sums(1, work_teu=1.0, attempts=1, accelerator_ms=3.0)
    silent = sums(1, work_teu=1.0, attempts=1)
    rows = [traffic(first, sums=told), traffic(first, "b", sums=told)]
    assert stated(ruled, [run(ruled)], rows).measured_by == {"accelerator_ms"}
    rows = [traffic(first, sums=told), traffic(first, "b", sums=silent)]
    assert stated(ruled, [run(ruled)], rows).measured_by == {"teu"}


def test_shown_cents_sum_to_the_shown_total() -> None:
    third = parts_of_usd(Decimal(1) / 3)
    shown = in_cents({"a": third, "b": third, "c": parts_of_usd(Decimal(1)) - 2 * third})
    assert sum(shown.values()) == Decimal("1.00")
    assert sorted(shown.values()) == [Decimal("0.33"), Decimal("0.33"), Decimal("0.34")]
