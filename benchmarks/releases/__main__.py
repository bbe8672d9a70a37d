"""`python -m benchmarks.releases [NAME...]`: one JSON line a figure on standard output."""

from benchmarks.parts import main

if __name__ == "__main__":
    main("benchmarks.releases", tools=("edges", "peers", "polls", "stage"))
