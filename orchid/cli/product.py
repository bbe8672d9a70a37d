"""Which product a command speaks of."""

import click

product_option = click.option("--product", envvar="ORCHID_PRODUCT", help="Slug of the product.")


def named(product: str | None, otherwise: object = None) -> str:
    """The product asked for, or the one that the file names."""
    slug = product or otherwise
    if not slug:
        raise click.UsageError("Name the product with --product or in ORCHID_PRODUCT.")
    return str(slug)
