"""The books: one ledger laid on whom it was spent for, as page, API and spreadsheet tell it."""

import csv
from collections import Counter
from datetime import timedelta
from decimal import Decimal
from io import StringIO
from typing import Any

import pytest

from gates.selectors.economics import books
from gates.selectors.periods import period_of
from gates.services import close_window, open_window
from ingest.services.rollups import append_deltas
from orchid.engine.economics import hourly_ledger_usd
from orchid.engine.economics.ledger import usd_of_parts
from orchid.engine.rollup import RollupKey, Sums, TenantKey
from policies.models import Product
from policies.selectors import document_of
from tests.gates.gates_cast import STEP, Judged, api, given, machine, someone

PAGE = "/products/orchid-demo/economics/"


class Spent:
    """Adds traffic with its work and its tenant to a product under judgement."""

    def __init__(self, judged: Judged) -> None:
        self.judged = judged

    def requests(
        self,
        count: int,
        *,
        tenant: str = "acme",
        task: str = "assistant",
        good: int | None = None,
        usd: str = "0",
        unpriced: int = 0,
        minute: int = -1,
        cohort: str = "incumbent",
        **figures: float,
    ) -> None:
        judged = self.judged
        stream = (judged.now + minute * STEP, 1, judged.digest, cohort)
        sums = Sums(
            Counter(
                {
                    "offered": count,
                    "eligible": count,
                    "admitted": count,
                    "completed": count,
                    "technical_success": count if good is None else good,
                    "unpriced": unpriced,
                }
            ),
            records=count,
        )
        sums.add_usd(Decimal(usd))
        sums.add_teu(Decimal(100 * count))
        for name, value in {"attempts": count, "work_teu": 100.0 * count, **figures}.items():
            sums.observe(name, value)
        dims = (("task", task), ("tenant_class", "standard"))
        by_tenant = {TenantKey(*stream, tenant): sums} if tenant else {}
        key = RollupKey(*stream, dims, "full", judged.manifest)
        append_deltas(judged.product, judged.batch(), {key: sums}, by_tenant)


@pytest.fixture
def spent(judged: Judged) -> Spent:
    return Spent(judged)


def told(product: Product, by: str = "route", period: str = "window") -> dict[str, Any]:
    answer = machine().get(api(f"economics?period={period}&by={by}"))
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()
    return found


def lines(found: dict[str, Any], by: str = "route") -> dict[str, dict[str, Any]]:
    """The rows that requests pay for, by name."""
    return {row["name"]: row for row in found["rows"] if row["kind"] == by}


def total(rows: list[dict[str, Any]]) -> Decimal:
    return sum((Decimal(row["total_usd"]) for row in rows), Decimal(0))


def test_the_ledger_of_a_window_is_its_fleet_and_what_was_paid_outside(spent: Spent) -> None:
    spent.requests(100, usd="0.25")
    found = told(spent.judged.product)
    fleet = hourly_ledger_usd(document_of(spent.judged.digest)) * 10 / 60
    assert Decimal(found["total_usd"]) == round(fleet + Decimal("0.25"), 12)
    assert found["external_usd"] == "0.25"
    assert sum(Decimal(line["total_usd"]) for line in found["ledger"]) == round(fleet, 12)


@pytest.mark.parametrize("by", ["route", "tenant", "task"])
def test_rows_sum_to_the_ledger_whatever_they_are_read_by(spent: Spent, by: str) -> None:
    for number in range(7):
        spent.requests(
            3 + number,
            tenant=f"t{number % 3}" if number else "",
            task=("assistant", "extraction")[number % 2],
            usd=f"0.0{number}1",
            minute=-1 - number,
        )
    found = told(spent.judged.product, by)
    assert total(found["rows"]) == Decimal(found["total_usd"])


def test_tenants_and_nobody_have_every_request_between_them(spent: Spent) -> None:
    spent.requests(30, tenant="acme")
    spent.requests(10, tenant="")
    rows = lines(told(spent.judged.product, "tenant"), "tenant")
    assert {name: row["requests"] for name, row in rows.items()} == {"acme": 30, "no tenant": 10}
    direct = [Decimal(rows[name]["direct_usd"]) for name in ("acme", "no tenant")]
    assert abs(direct[0] - 3 * direct[1]) <= Decimal("3e-12")


def test_what_one_success_admitted_and_attempt_cost(spent: Spent) -> None:
    spent.requests(100, good=80, attempts=125.0)
    row = lines(told(spent.judged.product))["full"]
    whole = Decimal(row["total_usd"])
    assert Decimal(row["per_success_usd"]) == round(whole / 80, 15)
    assert Decimal(row["per_admitted_usd"]) == round(whole / 100, 15)
    assert Decimal(row["per_attempt_usd"]) == round(whole / 125, 15)


def test_without_evidence_nothing_was_a_success(db: None) -> None:
    judged = Judged(evidence=False)
    Spent(judged).requests(100)
    row = lines(told(judged.product))["full"]
    assert (row["successes"], row["per_success_usd"]) == (0, None)


def test_wasted_work_is_told_by_cause_and_tenant(spent: Spent) -> None:
    spent.requests(50, tenant="acme", wasted_late_teu=500.0)
    spent.requests(50, tenant="zeta", wasted_failed_teu=250.0)
    rows = lines(told(spent.judged.product, "tenant"), "tenant")
    assert rows["acme"]["wasted_late_teu"] == "500"
    assert rows["zeta"]["wasted_failed_teu"] == "250"
    late = Decimal(rows["acme"]["wasted_late_usd"])
    assert abs(late - Decimal(rows["acme"]["direct_usd"]) / 10) <= Decimal("1e-12")
    page = someone("ben", "product_owner").get(f"{PAGE}?period=window&by=tenant").content.decode()
    assert "Wasted work by tenant" in page


def test_an_unknown_price_is_counted_apart_and_leaves_the_cost_unknown(spent: Spent) -> None:
    spent.requests(100, unpriced=2)
    found = told(spent.judged.product)
    assert found["unpriced"] == 2
    assert lines(found)["full"]["per_success_usd"] is None
    page = someone("ben", "product_owner").get(f"{PAGE}?period=window").content.decode()
    assert "2 requests have an attempt of unknown price" in page
    evaluation = spent.judged.judge()
    cost = spent.judged.verdict(evaluation, "cost_per_success_usd")
    assert (cost.verdict, cost.value) == ("inconclusive", None)
    assert "2 requests have an attempt of unknown price" in cost.message


def test_a_price_of_nothing_is_a_price(spent: Spent) -> None:
    spent.requests(100, usd="0")
    found = told(spent.judged.product)
    assert (found["unpriced"], found["external_usd"]) == (0, "0")
    assert lines(found)["full"]["per_success_usd"] is not None


def test_a_candidate_on_trial_is_paid_by_the_deployment(spent: Spent) -> None:
    judged = spent.judged
    open_window(judged.product, judged.digest, 1, "candidate", judged.opens_at, 0.1)
    spent.requests(10)
    both = books(judged.product, period_of(judged.product, judged.now, "window"))
    # One generation in both places is one pool, which is live.
    assert both.by_cell.allocated.investment == 0
    close_window(judged.window, judged.now - 5 * STEP)
    tried = books(judged.product, period_of(judged.product, judged.now, "window"))
    fleet = hourly_ledger_usd(document_of(judged.digest)) * 5 / 60
    assert 0 < usd_of_parts(tried.by_cell.allocated.investment) < fleet
    assert tried.by_cell.total == both.by_cell.total


def test_a_period_without_a_window_cost_nothing(judged: Judged) -> None:
    before = judged.opens_at - timedelta(days=3)
    asked = {"from": before.isoformat(), "to": (before + timedelta(hours=1)).isoformat()}
    found = machine().get(api("economics"), asked).json()
    assert (found["total_usd"], found["rows"]) == ("0", [])
    page = someone("ben", "product_owner").get(PAGE, asked).content.decode()
    assert "Nothing was spent in this period" in page


@pytest.mark.parametrize(
    "query",
    [
        "period=year",
        "by=moon",
        "from=2026-01-01T00:00Z",
        "from=2026-01-01&to=2026-01-02",
        "from=2026-01-01T00:00:01Z&to=2026-01-01T00:00:02Z",
        "from=2026-01-02T00:00Z&to=2026-01-01T00:00Z",
        "from=1926-01-01T00:00Z&to=2026-01-01T00:00Z",
        "from=9999-12-31T00:00Z&to=9999-12-31T01:00Z",
        "from=0001-01-01T00:00%2B14:00&to=0001-01-02T00:00Z",
    ],
)
def test_a_question_that_has_no_answer_is_refused(judged: Judged, query: str) -> None:
    answer = machine().get(api(f"economics?{query}"))
    assert answer.status_code == 400
    assert answer.json()["code"] in ("unknown_period", "unknown_dimension", "bad_period")


def test_the_spreadsheet_sums_to_the_ledger_and_holds_no_formula(spent: Spent) -> None:
    spent.requests(20, tenant="=cmd()")
    spent.requests(30, tenant="acme", usd="1.5")
    answer = someone("ben", "product_owner").get(
        "/products/orchid-demo/economics.csv?period=window&by=tenant"
    )
    assert answer["Content-Type"].startswith("text/csv")
    assert "attachment" in answer["Content-Disposition"]
    rows = list(csv.DictReader(StringIO(answer.content.decode())))
    assert total(rows) == Decimal(told(spent.judged.product)["total_usd"])
    assert {row["name"] for row in rows if row["kind"] == "tenant"} == {"acme", "'=cmd()"}


def test_nobody_else_sees_the_books(judged: Judged) -> None:
    from django.test import Client

    from accounts.models import User

    stranger = Client()
    stranger.force_login(User.objects.create_user("mallory", password="correct horse"))
    assert stranger.get(PAGE).status_code in (403, 404)
    assert stranger.get("/products/orchid-demo/economics.csv").status_code in (403, 404)


def test_a_month_and_the_saving_against_a_named_baseline(spent: Spent) -> None:
    from gates.models import DeclaredPoint

    judged = spent.judged
    DeclaredPoint.objects.create(
        product=judged.product, name="full only", cost_per_success_usd=Decimal("0.5")
    )
    judged.everywhere(300)
    judged.judge()
    page = someone("ben", "product_owner").get(f"{PAGE}?period=window").content.decode()
    assert "against full only (declared)" in page
    months = told(judged.product)["months"]
    assert months["baseline"] == "full only"
    assert Decimal(months["ledger_usd"]) == hourly_ledger_usd(document_of(judged.digest)) * 730
    each = Decimal("0.5") - Decimal(months["cost_per_success_usd"])
    assert abs(Decimal(months["saved_usd"]) / Decimal(months["successes"]) - each) < Decimal("1e-4")


@pytest.fixture
def budgeted(db: None) -> Spent:
    return Spent(Judged(given() | {"budgets": BUDGETS}))


BUDGETS = [
    {"tenant": "*", "window": "10s", "max_teu": 2000},
    {"tenant": "acme", "window": "1d", "max_usd": "4", "max_output_tokens": 1000},
]


def uses() -> dict[tuple[str, str, str], dict[str, Any]]:
    answer = machine().get(api("budgets"))
    assert answer.status_code == 200, answer.content
    return {(one["tenant"], one["window"], one["cap"]): one for one in answer.json()["uses"]}


def test_a_short_window_is_told_by_the_busiest_step(budgeted: Spent) -> None:
    budgeted.requests(30, tenant="zeta", minute=-3)
    budgeted.requests(120, tenant="zeta", minute=-2)
    found = uses()["zeta", "10s", "max_teu"]
    assert (found["used"], found["standing"]) == ("2000", "near")
    assert found["by_busiest_step"]


def test_a_long_window_tells_what_it_comes_to(budgeted: Spent) -> None:
    budgeted.requests(10, usd="3.5", output_tokens=1100.0, output_tokens_predicted=1500.0)
    found = uses()
    assert found["acme", "1d", "max_usd"]["standing"] == "near"
    tokens = found["acme", "1d", "max_output_tokens"]
    assert (tokens["used"], tokens["reserved"], tokens["standing"]) == ("1100", "1500", "over")


def test_dollars_of_unknown_price_are_told_beside_the_use(budgeted: Spent) -> None:
    budgeted.requests(10, usd="0.5", unpriced=3)
    assert uses()["acme", "1d", "max_usd"]["unpriced"] == 3
    page = someone("ben", "product_owner").get("/products/orchid-demo/budgets/").content.decode()
    assert "and 3 unpriced" in page


def test_tenants_counted_together_are_held_against_no_cap(budgeted: Spent) -> None:
    budgeted.requests(10_000, tenant="other")
    assert "other" not in {tenant for tenant, _, _ in uses()}
    page = someone("ben", "product_owner").get("/products/orchid-demo/budgets/").content.decode()
    assert "counted together as" in page


def test_a_document_without_budgets_says_so(db: None) -> None:
    Judged(given() | {"budgets": []})
    page = someone("ben", "product_owner").get("/products/orchid-demo/budgets/").content.decode()
    assert "The live document has no budgets" in page
