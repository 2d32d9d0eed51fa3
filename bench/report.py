"""What the benchmarks share: sections by name, notes while they run, one table at the end."""
import socket
import statistics
import sys
import urllib.parse


def note(text):
    print(text, file=sys.stderr, flush=True)


def spread(values):
    """The median, with the least and the most."""
    return f"{statistics.median(values):.2f} ({min(values):.2f}..{max(values):.2f})"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def port_of(engine):
    return urllib.parse.urlparse(engine.endpoint()).port


class Table:
    def __init__(self, *columns):
        self.columns, self.rows = columns, []

    def add(self, *cells):
        self.rows.append(cells)
        note(" | ".join(cells))

    def print(self):
        print("| " + " | ".join(self.columns) + " |")
        print("|" + "---|" * len(self.columns))
        for row in self.rows:
            print("| " + " | ".join(row) + " |")


def run(sections, table, perform):
    """RELEASE_DIR WORK_DIR [SECTION...]: perform(section, release, work) for each, then the table."""
    release, work, *chosen = sys.argv[1:]
    unknown = [name for name in chosen if name not in sections]
    if unknown:
        sys.exit(f"no section {unknown[0]}; there are: {' '.join(sections)}")
    for name in chosen or sections:
        note(f"-- {name}")
        perform(sections[name], release, work)
    table.print()
