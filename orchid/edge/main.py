"""`orchid edge run`: start one edge in this process."""

import logging
import socket
from pathlib import Path

import click
import uvicorn

from orchid.edge.app import create_app
from orchid.edge.settings import EdgeSettings
from orchid.edge.tls import Tls, TlsError

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.option("--product", envvar="ORCHID_PRODUCT", required=True, help="Slug of its product.")
@click.option("--name", envvar="ORCHID_EDGE_NAME", default="edge-1", show_default=True)
@click.option("--url", envvar="ORCHID_URL", default="http://127.0.0.1:8470", show_default=True)
@click.option(
    "--token",
    envvar="ORCHID_TOKEN",
    default="",
    help="Its edge credential; not needed with a certificate.",
)
@click.option(
    "--certificate",
    envvar="ORCHID_EDGE_CERTIFICATE",
    type=FILE,
    help="Client certificate in PEM form, shown to whatever ends TLS before the control plane.",
)
@click.option(
    "--key",
    envvar="ORCHID_EDGE_KEY",
    type=FILE,
    help="Its key, where it isn't in the certificate's file.",
)
@click.option(
    "--authority",
    envvar="ORCHID_EDGE_AUTHORITY",
    type=FILE,
    help="Who vouches for the control plane; the system's authorities when not given.",
)
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
    type=FILE,
    help="File of the keys to trust first, where no control plane can be asked for them.",
)
def run(
    product: str,
    name: str,
    url: str,
    token: str,
    certificate: Path | None,
    key: Path | None,
    authority: Path | None,
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
    if not token and not certificate:
        raise click.UsageError("Give --token (ORCHID_TOKEN) or --certificate: who is this edge?")
    if not token and not url.startswith("https://"):
        raise click.UsageError(f"A certificate is shown on https alone, and --url is {url}.")
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
        tls=Tls(certificate, key, authority),
    )
    try:
        app = create_app(settings)
    except TlsError as refused:
        raise click.UsageError(str(refused)) from refused
    _check_free(host, port)
    uvicorn.run(
        app,
        host=settings.host,
        port=settings.port,
        access_log=False,
        log_level="warning",
        timeout_graceful_shutdown=1,
    )


def _check_free(host: str, port: int) -> None:
    """Refuse with the way out, which the second edge of a machine needs; uvicorn names none."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        socket.create_server((host, port), family=family).close()
    except OSError as refused:
        why = str(refused.strerror).partition(" (")[0]
        raise click.UsageError(
            f"Nothing can be served at {host}:{port}: {why}. Where another edge or server is"
            " there, name a free one with --port (ORCHID_EDGE_PORT)."
        ) from refused
