"""`orchid sign-in` and `sign-out`: a person at a terminal, by the session that a browser has."""

import json
import os
import sys
from pathlib import Path

import click
import httpx

from orchid.cli.address import address
from orchid.cli.output import written

CSRF, SESSION = "csrftoken", "sessionid"
LOGIN, CODE, LOGOUT = "/login", "/login/code", "/logout"
Cookies = dict[str, str]
#: What the page of one's sessions calls it.
TOLD = {"User-Agent": "orchid sign-in, at a terminal"}
WRONG = (
    "That name and password don't go together. After many wrong ones nobody is let in for a"
    " quarter of an hour."
)
WRONG_CODE = (
    "That code is not taken. It is six digits of the authenticator app, or a recovery code;"
    " a security key can be shown to a browser alone."
)
NOTHING_READ = (
    "Standard input has no {what}. Without a terminal its first line is the password and its"
    " second, where the account has a second factor, a code."
)
ELSEWHERE = (
    "{url} answers {status} where one signs in. ORCHID_URL names the control plane as a browser"
    " does, with https where that is asked for."
)


@click.command("sign-in")
@click.argument("name")
def sign_in(name: str) -> None:
    """Sign in as the person NAME, for what no token may: approve, publish, act in an emergency.

    Asks for the password, and for a code where the account has a second factor; without a
    terminal they are the lines of standard input. The session ends
    as one in a browser does, and what moves traffic asks to sign in again after half an hour.
    """
    url = address()
    with httpx.Client(base_url=url, timeout=30.0, headers=TOLD) as client:
        try:
            _password_shown(client, name)
        except httpx.TransportError as error:
            raise click.ClickException(f"No control plane answers at {url} ({error}).") from error
        cookies = {one: client.cookies[one] for one in (CSRF, SESSION) if one in client.cookies}
    _keep({**_kept(), url: cookies})
    told = " ORCHID_TOKEN is set and counts first." if os.environ.get("ORCHID_TOKEN") else ""
    click.echo(f"Signed in to {url} as {name}.{told}", err=True)


@click.command("sign-out")
def sign_out() -> None:
    """End the session of `orchid sign-in`, here and at the control plane."""
    url, kept = address(), _kept()
    cookies = kept.pop(url, None)
    _keep(kept)
    if cookies is None:
        raise click.ClickException(f"Nobody is signed in to {url} from here.")
    with httpx.Client(base_url=url, cookies=cookies, headers=sent_by(url, cookies)) as client:
        try:
            client.post(LOGOUT)
        except httpx.TransportError as error:
            raise click.ClickException(f"Forgotten here only: {error}") from error
    click.echo(f"Signed out of {url}.", err=True)


def session_of(url: str) -> Cookies | None:
    """The session that was begun here with this control plane."""
    return _kept().get(url)


def sent_by(url: str, cookies: Cookies) -> dict[str, str]:
    """What a form of the site's own would send, which a session is asked for with each act."""
    return {"X-CSRFToken": cookies.get(CSRF, ""), "Referer": f"{url}/"}


def _password_shown(client: httpx.Client, name: str) -> None:
    _opened(client, LOGIN)
    answer = _sent(client, LOGIN, username=name, password=_asked("Password", hide=True))
    if not answer.is_redirect:
        raise click.ClickException(WRONG)
    if answer.headers["Location"].startswith(CODE):
        _opened(client, CODE)
        answer = _sent(client, CODE, code=_asked("Code"))
        if not answer.is_redirect:
            raise click.ClickException(WRONG_CODE)
    if SESSION not in client.cookies:
        raise click.ClickException(WRONG)


def _asked(what: str, *, hide: bool = False) -> str:
    """What somebody types, or the next line that a script hands over on standard input."""
    if sys.stdin.isatty():
        return str(click.prompt(what, hide_input=hide))
    try:
        line = sys.stdin.readline()
    except UnicodeDecodeError as error:
        raise click.ClickException(f"Standard input is not UTF-8 ({error.reason}).") from error
    if not line.strip("\r\n"):
        raise click.ClickException(NOTHING_READ.format(what=what.lower()))
    return line.rstrip("\r\n")


def _opened(client: httpx.Client, path: str) -> None:
    """The page with the form, which also gives what the form is sent with."""
    answer = client.get(path)
    if answer.status_code != httpx.codes.OK:
        raise _elsewhere(client, answer)


def _sent(client: httpx.Client, path: str, **fields: str) -> httpx.Response:
    token = client.cookies.get(CSRF, "")
    referer = {"Referer": str(client.base_url.join(path))}
    answer = client.post(path, data={**fields, "csrfmiddlewaretoken": token}, headers=referer)
    if answer.is_error:
        raise _elsewhere(client, answer)
    return answer


def _elsewhere(client: httpx.Client, answer: httpx.Response) -> click.ClickException:
    url = str(client.base_url).rstrip("/")
    return click.ClickException(ELSEWHERE.format(url=url, status=answer.status_code))


def _file() -> Path:
    given = os.environ.get("ORCHID_SESSIONS", "")
    return Path(given) if given else Path(click.get_app_dir("orchid")) / "sessions.json"


def _kept() -> dict[str, Cookies]:
    try:
        found = json.loads(_file().read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _keep(sessions: dict[str, Cookies]) -> None:
    """For the eyes of this user alone: whoever has the file is that person."""
    file = _file()
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    before = os.umask(0o077)
    try:
        written(json.dumps(sessions, indent=2).encode(), file)
    finally:
        os.umask(before)
