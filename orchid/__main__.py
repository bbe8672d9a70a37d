"""`python -m orchid`: the command line without an installed script."""

from orchid.cli.main import main

if __name__ == "__main__":
    main()
