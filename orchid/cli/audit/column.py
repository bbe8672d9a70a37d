"""`orchid audit FILE`: percentiles and shares from single values, beside what a verdict says."""

from typing import Any

import click
import numpy as np

from orchid.cli.output import json_option, show, table
from orchid.engine.exact import Times, nearest_rank_ms, within

METHOD = "nearest rank, exact"


@click.command("column")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option("--quantile", type=click.FloatRange(0, 1, min_open=True), default=0.95)
@click.option("--within", "bounds", type=float, multiple=True, help="Milliseconds; repeatable.")
@json_option
def column(file: str, quantile: float, bounds: tuple[float, ...], as_json: bool) -> None:
    """Compute the percentile and the shares within bounds of an exported column, exactly.

    FILE is what `manage.py export_completions` writes.
    """
    times = _times(file)
    value = nearest_rank_ms(times, quantile)
    shares = [within(times, bound) for bound in bounds]
    found: dict[str, Any] = {
        "requests": len(times),
        "ended_whole": int(np.isfinite(times).sum()),
        "quantile": quantile,
        "ms": value,
        "method": METHOD,
        "within": [
            {"bound_ms": one.bound_ms, "within": one.within, "share": one.share} for one in shares
        ],
    }
    rows = [(f"p{100 * quantile:g} ({METHOD})", f"{value:g} ms" if len(times) else None)]
    rows += [(f"within {one.bound_ms:g} ms", f"{one.within:,} of {one.total:,}") for one in shares]
    show(found, lambda: table(("figure", f"of {len(times):,} requests"), rows), as_json=as_json)


def _times(file: str) -> Times:
    try:
        times: Times = np.load(file, mmap_mode="r", allow_pickle=False)
    except ValueError as error:
        raise click.ClickException(f"{file} is no NumPy file: {error}") from error
    if times.ndim != 1 or times.dtype != np.float64:
        raise click.ClickException(f"{file} is not one column of float64 milliseconds.")
    if np.isnan(times).any():
        raise click.ClickException(f"{file} holds values that are no number.")
    return times
