"""Record the covers of the catalogue: `python -m viz.covers [NAME ...]`, all of them without a name."""

import sys

from scenarios import catalogue
from viz import covers


def main(names: list[str]) -> None:
    covers.RECORDED.mkdir(exist_ok=True)
    scenarios = catalogue.load()
    for name in names or scenarios:
        path = covers.recorded_at(scenarios[name])
        path.write_text(covers.cover(scenarios[name]), encoding="utf-8")
        print(path.name)


if __name__ == "__main__":
    main(sys.argv[1:])
