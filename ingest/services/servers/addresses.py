"""Addresses that an operator may give: where a worker of ours will open connections to."""

import ipaddress
import re
from urllib.parse import urlsplit

from controlplane.errors import BadInput

LONGEST = 200
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?")
_PATH = re.compile(r"(/[A-Za-z0-9._~-]+)*/?")


def http_address(written: str, what: str) -> str:
    """`http://host:port/path`, without a trailing slash; raises BadInput."""
    return _checked(written, what, ("http", "https"), path=True)


def grpc_address(written: str, what: str) -> str:
    """`grpc://host:port`, also without the scheme; raises BadInput."""
    with_scheme = written if "://" in written else f"grpc://{written}"
    return _checked(with_scheme, what, ("grpc", "grpcs"), path=False)


def _checked(written: str, what: str, schemes: tuple[str, ...], *, path: bool) -> str:
    try:
        parts = urlsplit(written)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise _bad(what, "it can't be read") from None
    if len(written) > LONGEST:
        raise _bad(what, f"it has over {LONGEST} characters")
    if parts.scheme not in schemes:
        raise _bad(what, f"it begins with {' or '.join(f'{one}://' for one in schemes)}")
    if parts.username is not None or parts.password is not None:
        raise _bad(what, "an address holds no credentials")
    if parts.query or parts.fragment or "?" in written or "#" in written:
        raise _bad(what, "it has no query and no fragment")
    if not port:
        raise _bad(what, "it names its port")
    if not _PATH.fullmatch(parts.path) or (parts.path.strip("/") and not path):
        raise _bad(what, "its path can't be used")
    shown = _checked_host(host, what)
    return f"{parts.scheme}://{shown}:{port}{parts.path.rstrip('/')}"


def _checked_host(host: str, what: str) -> str:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        if not _HOST.fullmatch(host) or ".." in host:
            raise _bad(what, "its host can't be used") from None
        return host
    if address.is_link_local or address.is_multicast or address.is_unspecified:
        # Clouds answer with a machine's own credentials at link-local addresses.
        raise _bad(what, "link-local, multicast and unspecified addresses are no model servers")
    return f"[{address}]" if address.version == 6 else str(address)


def _bad(what: str, why: str) -> BadInput:
    return BadInput("bad_address", f"{what}: {why}.")
