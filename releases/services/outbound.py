"""Send a small signed message to an address that somebody typed, and never to one inside."""

import asyncio
import hashlib
import hmac
import ipaddress
import socket
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

import httpx

LONGEST_S = 8.0  # of one message, from the name's look-up to the answer's first line
#: Of what an operator may allow, for a receiver of their own.
UNLESS = "unless ORCHID_WEBHOOKS_PRIVATE=1 is set where Orchid runs"
#: All that is given out of IPv6; outside it lie site-local ones and several spellings of IPv4.
GIVEN_OUT = ipaddress.ip_network("2000::/3")


@dataclass(frozen=True)
class Message:
    """What is sent to whom. `private` lets it go to addresses of this machine and its networks."""

    url: str
    body: bytes
    headers: dict[str, str]
    private: bool = False


@dataclass(frozen=True)
class Outcome:
    """What came of it: the answer's status, None where there was none, and words either way."""

    status: int | None
    words: str

    @property
    def is_taken(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


class AddressRefused(ValueError):  # noqa: N818 - it is told, not only raised
    """An address that nothing may be sent to."""


def signature(secret: str, at: datetime, body: bytes) -> str:
    """`t=<unix seconds>,v1=<HMAC-SHA256 over "t.body" in hexadecimal digits>`."""
    moment = str(int(at.timestamp()))
    mac = hmac.new(secret.encode(), moment.encode() + b"." + body, hashlib.sha256)
    return f"t={moment},v1={mac.hexdigest()}"


def sound_address(url: str, *, private: bool) -> httpx.URL:
    """The address in parts. Raises AddressRefused with what is wrong with it."""
    try:
        found = httpx.URL(url)
    except (httpx.InvalidURL, ValueError) as error:
        raise AddressRefused(f"it is no address: {error}") from error
    if found.scheme != "https" and not (private and found.scheme == "http"):
        raise AddressRefused(f"it has to begin with https:// ({UNLESS})")
    if not found.host or found.userinfo:
        raise AddressRefused("it has to name a host and no user")
    try:
        host = found.host.encode("idna").decode()  # as the look-up will write it
    except UnicodeError as error:
        raise AddressRefused("no host can have that name") from error
    if not private:
        refuse_inside(host, literal(host))
    return found


def literal(host: str) -> list[str]:
    """The address that a host spells out by itself, however it is written; none for a name."""
    bare = host.removesuffix(".")
    try:
        return [str(ipaddress.ip_address(bare))]
    except ValueError:
        pass
    try:
        return [socket.inet_ntoa(socket.inet_aton(bare))]  # 2130706433, 0x7f.1, 0177.0.0.1
    except OSError:
        return []


def refuse_inside(host: str, addresses: Iterable[str]) -> None:
    """Asked of what was typed, and again of what its name led to when something is sent."""
    is_own = host.casefold().removesuffix(".").rpartition(".")[2] == "localhost"
    if is_own or not all(map(is_public, addresses)):
        raise AddressRefused(f"{host} is an address inside; nothing is sent there ({UNLESS})")


def send_all(messages: Sequence[Message]) -> list[Outcome]:
    """Send them at one time; all of it takes no longer than the slowest may.

    No redirect is followed and no proxy of the environment used.
    """

    async def together() -> list[Outcome]:
        client = httpx.AsyncClient(trust_env=False, follow_redirects=False, timeout=LONGEST_S)
        async with client:
            return list(await asyncio.gather(*(_sent(client, one) for one in messages)))

    return asyncio.run(together())


async def _sent(client: httpx.AsyncClient, message: Message) -> Outcome:
    try:
        async with asyncio.timeout(LONGEST_S):
            return await _posted(client, message)
    except TimeoutError:
        return Outcome(None, f"No answer within {LONGEST_S:.0f} seconds.")
    except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as problem:
        return Outcome(None, f"{problem or type(problem).__name__}"[:300])


async def _posted(client: httpx.AsyncClient, message: Message) -> Outcome:
    """Connect to the very address that was looked at, by the name that was asked for.

    Of the answer only the status is read.
    """
    url = sound_address(message.url, private=message.private)
    address = await _address(url, private=message.private)
    headers = {**message.headers, "Host": url.netloc.decode("ascii"), "Connection": "close"}
    async with client.stream(
        "POST",
        url.copy_with(host=address),
        content=message.body,
        headers=headers,
        extensions={"sni_hostname": url.host},
    ) as answer:
        return Outcome(answer.status_code, f"Answered {answer.status_code}.")


async def _address(url: httpx.URL, *, private: bool) -> str:
    """One address of the host; refused where any of them lies inside."""
    port = url.port or (443 if url.scheme == "https" else 80)
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(url.host, port, type=socket.SOCK_STREAM)
    addresses = [str(entry[4][0]) for entry in found]
    if not private:
        refuse_inside(url.host, addresses)
    return addresses[0]


def is_public(address: str) -> bool:
    """Whether everyone reaches the same machine under it; an address that hides another is not."""
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped is not None:
            found = found.ipv4_mapped
        elif found.sixtofour or found.teredo or found not in GIVEN_OUT:
            return False
    return found.is_global and not found.is_multicast
