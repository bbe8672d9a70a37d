"""`python -m benchmarks.gates [NAME...]`: one JSON line a figure on standard output."""

from benchmarks.parts import main

if __name__ == "__main__":
    main("benchmarks.gates", tools=())
