"""What is said when all is up."""

import json

from orchid.cli.embedded.machine import Machine

CAST = (
    ("ana", "engineer: proposes, and owns the CI token"),
    ("ben", "product owner: approves quality"),
    ("cho", "product owner"),
    ("dee", "SRE: approves capacity, rolls back"),
    ("eve", "auditor: reads everything, changes nothing"),
)
STORY = """What to try:
  1. Log in as ben, open Orchid Demo, then Gates: after a minute generation 1 misses its cost.
  2. Proposals: then CI proposes generation 2 (compact fallback, smaller fleet). Approve, and why.
  3. Log in as dee, approve too, publish. Edges shows who runs what; Gates judges generation 2.
  4. As dee: Roll back. The edge follows within two seconds; Audit shows every act."""
FIRST_OWNER = """The first person, who invites the others (once):
  .venv/bin/python manage.py first_owner NAME EMAIL"""


def welcome(machine: Machine) -> str:
    """Where to go, as whom, and what to click."""
    logs = f"Logs: {machine.var / 'log'}. Ctrl-C stops everything."
    if not machine.demo:
        return f"\nOrchid runs at {machine.url}\n{FIRST_OWNER}\n{logs}\n"
    passwords: dict[str, str] = json.loads(machine.secret("demo-passwords.json") or "{}")
    logins = "\n".join(f"  {name:<4} {passwords.get(name, '?'):<16} {role}" for name, role in CAST)
    return f"\nOrchid runs at {machine.url}\n\n{logins}\n\n{STORY}\n{logs}\n"
