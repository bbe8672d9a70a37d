"""`orchid policy arithmetic`: the small sums behind a budget, each with its inputs."""

from dataclasses import asdict
from decimal import Decimal
from typing import Any

import click

from orchid.cli.output import json_option, show, table
from orchid.cli.policy.figures import DECIMAL, MOST_TOKENS, POSITIVE, SHARE, TOKENS
from orchid.cli.policy.reading import number, share
from orchid.engine.arithmetic import (
    Assistant,
    Speculation,
    arrivals_per_minute,
    decode_floor_ms,
    fixed_batch_use,
    tokens_of_text,
)
from orchid.engine.sample import METHOD, inverted_cdf


@click.group()
def arithmetic() -> None:
    """Sums without a document: tokens, decode, batches, drafts, a feature."""


@arithmetic.command()
@click.argument("characters", type=click.IntRange(0, 10**12))
@click.argument("per_token", type=POSITIVE)
def tokens(characters: int, per_token: Decimal) -> None:
    """Tokens of a text of so many CHARACTERS at a tokenizer's mean characters PER_TOKEN."""
    click.echo(f"{tokens_of_text(characters, per_token):,} tokens")


@arithmetic.command()
@click.argument("parameters", type=POSITIVE)
@click.option("--bits", default=16, show_default=True, type=click.IntRange(1, 64))
@click.option("--bytes-per-s", required=True, type=POSITIVE, help="Memory bandwidth.")
@click.option(
    "--output", "output_tokens", default=1, type=click.IntRange(1, MOST_TOKENS), help="Tokens."
)
def decode(parameters: Decimal, bits: int, bytes_per_s: Decimal, output_tokens: int) -> None:
    """Least decode time of a model of so many PARAMETERS: each is read once a token."""
    floor = decode_floor_ms(parameters, bits, bytes_per_s)
    whole = output_tokens * floor
    click.echo(f"{floor:.2f} ms a token at least; {output_tokens:,} tokens {whole:,.1f} ms")


@arithmetic.command()
@click.argument("outputs", nargs=-1, required=True, type=click.IntRange(1, 10**9))
def batch(outputs: tuple[int, ...]) -> None:
    """Use of a fixed batch whose members write OUTPUTS tokens: all wait for the longest."""
    use, slots = fixed_batch_use(outputs), max(outputs) * len(outputs)
    click.echo(f"{sum(outputs):,} of {slots:,} slots are of use: {share(use)}")


@arithmetic.command()
@click.argument("values", nargs=-1, required=True, type=DECIMAL)
@click.option("--at", "percent", default=95, show_default=True, type=click.IntRange(1, 100))
def percentile(values: tuple[Decimal, ...], percent: int) -> None:
    """The percentile of VALUES as every figure here has it: one of them, nothing in between."""
    found = inverted_cdf(sorted(map(float, values)), percent)
    click.echo(f"p{percent} is {found:,.15g} by {METHOD}, of {len(values):,} values")


@arithmetic.command()
@click.option("--acceptance", required=True, type=DECIMAL, help="Chance that a draft is kept.")
@click.option("--draft", required=True, type=click.IntRange(1, 64), help="Tokens of a draft.")
@click.option("--draft-cost", required=True, type=DECIMAL, help="Of one, against a pass of large.")
def speculation(acceptance: Decimal, draft: int, draft_cost: Decimal) -> None:
    """What drafting with a small model gains, and the operations that it adds."""
    if not 0 < acceptance < 1:
        raise click.UsageError("--acceptance lies between 0 and 1")
    drafted = Speculation(acceptance, draft)
    click.echo(
        f"{drafted.tokens_per_pass:.2f} tokens a pass; {drafted.speedup(draft_cost):.2f} times as"
        f" fast; {drafted.operations(draft_cost):.2f} times the operations"
    )


@arithmetic.command()
@click.option("--prefix", required=True, type=TOKENS, help="Stable tokens.")
@click.option("--input", "input_tokens", required=True, type=TOKENS, help="The others.")
@click.option("--output", "output_tokens", required=True, type=TOKENS)
@click.option("--output-weight", default="4", show_default=True, type=DECIMAL)
@click.option("--small-price", default="0.1", show_default=True, type=DECIMAL)
@click.option("--write-price", default="1.25", show_default=True, type=DECIMAL)
@click.option("--read-price", default="0.1", show_default=True, type=DECIMAL)
@click.option("--hit-rate", default="0.9", show_default=True, type=SHARE)
@click.option("--escalation", default="0.25", show_default=True, type=SHARE)
@click.option(
    "--requests-a-month", type=click.IntRange(0, 10**12), help="To see how warm a cache stays."
)
@json_option
def assistant(requests_a_month: int | None, as_json: bool, **given: Any) -> None:
    """A feature with a stable prefix, by who answers it: large, cascade, perfect classifier."""
    asked = Assistant(prefix_tokens=given.pop("prefix"), **given)
    data: dict[str, Any] = {**asdict(asked), "ways": ways(asked)}
    if requests_a_month is not None:
        arrivals = arrivals_per_minute(requests_a_month)
        data["arrivals_per_minute"] = arrivals
        data["large_per_minute"] = arrivals * asked.escalation
    show(data, lambda: assistant_text(data), as_json=as_json)


def ways(asked: Assistant) -> dict[str, dict[str, Decimal]]:
    """Large-model input tokens a request."""
    costs = {
        "large only": asked.large_only,
        "cascade": asked.cascade,
        "perfect classifier": asked.perfect_classifier,
    }
    return {
        way: {"uncached": cost(cached=False), "cached": cost(cached=True)}
        for way, cost in costs.items()
    }


def assistant_text(data: dict[str, Any]) -> str:
    rows = [(way, number(c["uncached"]), number(c["cached"])) for way, c in data["ways"].items()]
    lines = [table(("large-model input tokens a request", "uncached", "cached"), rows)]
    if "arrivals_per_minute" in data:
        lines.append(
            f"{data['arrivals_per_minute']:.1f} requests a minute; under the cascade the large"
            f" model sees {data['large_per_minute']:.1f}, by which its prefix must stay warm"
        )
    return "\n".join(lines)
