#!/usr/bin/env python
"""Django's command line for the control plane."""

import os
import sys

# Commands that change tables need the owner of the tables; everything else runs as the application.
OWNER_COMMANDS = {"migrate", "sqlmigrate", "dbshell"}


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
    if len(sys.argv) > 1 and sys.argv[1] in OWNER_COMMANDS:
        os.environ.setdefault("ORCHID_DATABASE_AS", "owner")
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
