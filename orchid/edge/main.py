"""`orchid edge run`: start one edge in this process."""

import logging
from pathlib import Path

import click
import uvicorn

from orchid.edge.app import create_app
from orchid.edge.settings import EdgeSettings


@click.command()
@click.option("--product", envvar="ORCHID_PRODUCT", required=True, help="Slug of its product.")
@click.option("--name", envvar="ORCHID_EDGE_NAME", default="edge-1", show_default=True)
@click.option("--url", envvar="ORCHID_URL", default="http://127.0.0.1:8470", show_default=True)
@click.option("--token", envvar="ORCHID_TOKEN", required=True, help="Its edge credential.")
@click.option("--host", envvar="ORCHID_EDGE_HOST", default="127.0.0.1", show_default=True)
@click.option("--port", envvar="ORCHID_EDGE_PORT", default=8471, show_default=True)
@click.option("--var", envvar="ORCHID_VAR", default="var", type=click.Path(path_type=Path))
@click.option(
    "--state",
    envvar="ORCHID_EDGE_STATE",
    type=click.Path(path_type=Path),
    help="Folder for its bundle and journal; var/edge/NAME when not given.",
)
@click.option(
    "--pools",
    envvar="ORCHID_EDGE_POOLS_DIR",
    type=click.Path(path_type=Path),
    help="Folder where ready pools are announced; var/run when not given.",
)
@click.option(
    "--bundle-url",
    envvar="ORCHID_BUNDLE_URL",
    default="",
    help="Follow a bundle that `orchid publish` put on a web server, and no control plane's.",
)
@click.option(
    "--bundle-keys",
    envvar="ORCHID_BUNDLE_KEYS",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="File of the keys to trust first, where no control plane can be asked for them.",
)
def run(
    product: str,
    name: str,
    url: str,
    token: str,
    host: str,
    port: int,
    var: Path,
    state: Path | None,
    pools: Path | None,
    bundle_url: str,
    bundle_keys: Path | None,
) -> None:
    """Decide requests beside a fleet, by the newest signed generation."""
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    settings = EdgeSettings(
        product=product,
        name=name,
        url=url,
        token=token,
        state_dir=state or var / "edge" / name,
        pools_dir=pools or var / "run",
        host=host,
        port=port,
        bundle_url=bundle_url,
        bundle_keys=bundle_keys,
    )
    uvicorn.run(
        create_app(settings),
        host=settings.host,
        port=settings.port,
        access_log=False,
        log_level="warning",
        timeout_graceful_shutdown=1,
    )
