"""Dollars of the fleet: what they were spent for, and what a success costs."""

from orchid.engine.economics.allocation import Allocated, Charge, allocate
from orchid.engine.economics.card import Card, card, card_usd, reserve_usd
from orchid.engine.economics.hourly import (
    HOURS_PER_MONTH,
    PRECISION,
    SECONDS_PER_HOUR,
    device_usd_per_h,
    hourly_ledger_usd,
    ledger_usd_between,
)
from orchid.engine.economics.ledger import PoolHour, Run, ledger
from orchid.engine.economics.prices import upstream_usd
from orchid.engine.economics.statement import Entry, Statement, Traffic, statement
from orchid.engine.economics.success import (
    attainment,
    cost_per_success_usd,
    exceeds,
    steady_cost_per_success_usd,
    successes_per_h,
)

__all__ = [
    "HOURS_PER_MONTH",
    "PRECISION",
    "SECONDS_PER_HOUR",
    "Allocated",
    "Card",
    "Charge",
    "Entry",
    "PoolHour",
    "Run",
    "Statement",
    "Traffic",
    "allocate",
    "attainment",
    "card",
    "card_usd",
    "cost_per_success_usd",
    "device_usd_per_h",
    "exceeds",
    "hourly_ledger_usd",
    "ledger",
    "ledger_usd_between",
    "reserve_usd",
    "statement",
    "steady_cost_per_success_usd",
    "successes_per_h",
    "upstream_usd",
]
