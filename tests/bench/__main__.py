"""`python -m tests.bench`: all measurements, one after the other; about two minutes."""

from tests.bench import decode, long_run


def main() -> None:
    for bench in (decode, long_run):
        for line in bench.report():
            print(line, flush=True)
        print()


if __name__ == "__main__":
    main()
