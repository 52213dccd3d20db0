"""What the code costs to carry, as `make measure` prints it: docs/architecture.md has the figures of the last release and
what they are to become."""

import pathlib
import re
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = {path: path.read_text() for path in sorted((ROOT / "Sources").rglob("*.swift"))}
FORM = re.compile(r'EventForm\(\s*"([a-z_0-9.]+)"')


def lines(paths):
    return sum(SOURCES[path].count("\n") for path in paths)


def event_types():
    """Where each type of event is declared."""
    return {name: path for path, text in SOURCES.items() for name in FORM.findall(text)}


def simple_commands():
    """The commands whose facts are those of one stream: gathered in one line."""
    gather = re.compile(r"func gather\([^{]*\{\s*\n?[^\n{}]*\n?\s*\}")
    for path, text in SOURCES.items():
        if len(re.findall(r"^public struct \w+(?:<\w+>)?: (?:\w+, )*Command\b", text, re.M)) == 1 and gather.search(text):
            yield path


def changes():
    """The lines of each change beside its brothers, with its comment."""
    change = re.compile(
        r"(?:^    ///[^\n]*\n)*^    package static func [^{]*?-> (?:\w+\.)?Change\b[^{]*\{\n.*?^    \}\n", re.M | re.S)
    for path, text in SOURCES.items():
        if path.name.endswith("Changes.swift"):
            yield from (found.count("\n") for found in change.findall(text))


def forms():
    """How Swift names each type of event: `SessionEvent.Form.opened`."""
    declared = re.compile(r'static let (`?\w+`?) = EventForm\(\s*"([a-z_0-9.]+)"')
    enum = re.compile(r"^(?:public |internal )?(?:enum|extension) (\w+)", re.M)
    for text in SOURCES.values():
        for block in re.finditer(r"^    package enum Form \{.*?^    \}", text, re.M | re.S):
            owner = enum.findall(text[:block.start()])[-1]
            for case, name in declared.findall(block[0]):
                yield name, f"{owner}.Form.{case}.name"


def naming(types):
    """Which files of ours name each type, as text."""
    files = {path: set(re.findall(r'"([a-z_0-9.]+)"', text)) for path, text in SOURCES.items()}
    files |= {
        path: set(re.findall(r"'([a-z_0-9.]+)'", path.read_text()))
        for path in sorted((ROOT / "Projections").glob("*.sql"))}
    return {name: [path for path, words in files.items() if name in words] for name in types}


def exceptions():
    text = (ROOT / "Tests/TidyTests/RoomOrder.swift").read_text()
    return len(re.findall(r'^ +"[\w/]+\.swift: ', text, re.M))


def sleeps(suffix, pattern):
    paths = [path for path in (ROOT / "Tests").rglob("*" + suffix) if path != pathlib.Path(__file__).resolve()]
    return sum(len(re.findall(pattern, path.read_text())) for path in paths)


def measures():
    types = event_types()
    named = naming(types)
    by_form = {name: [path for path, text in SOURCES.items() if form in text] for name, form in forms()}
    counts = sorted(len(set(named[name]) | set(by_form[name])) for name in types)
    outside = [
        (path, name) for name, files in named.items() for path in files
        if path.suffix == ".swift" and path != types[name]]
    commands = [*changes(), *(SOURCES[path].count("\n") for path in simple_commands())]
    context = (ROOT / "Sources/API/Access/RealmContext.swift").read_text()
    runner = (ROOT / "Sources/urd/Subscribing/WebhookRunner.swift").read_text()
    notes = [path for path in (ROOT / "docs/decisions").glob("[0-9]*.md")]
    yield "lines of Swift in Sources", lines(SOURCES)
    yield "lines of tests, in Swift and in Python", sum(
        path.read_text().count("\n") for suffix in ("swift", "py") for path in (ROOT / "Tests").rglob("*." + suffix))
    yield "types of events", len(types)
    yield "lines a type of event, in the files that declare them", round(lines(set(types.values())) / len(types), 1)
    yield "lines a command of one stream, median", f"{statistics.median(commands):.0f} of {len(commands)}"
    yield "types of events as texts in Swift, beside their declaration", (
        f"{len(outside)} in {len({path for path, _ in outside})} files")
    yield "files that name a type of event: median, 9 of 10", (
        f"{statistics.median(counts):.0f}, {counts[len(counts) * 9 // 10]}")
    yield "services that RealmContext hands on", len(re.findall(r"\{ shared\.\w+ \}", context))
    yield "references against the order of folders", exceptions()
    yield "locks and atomics of WebhookRunner", len(re.findall(r"(?:Mutex|Atomic)[<(]", runner))
    yield "decisions, and their words", (
        f"{len(notes)}, {sum(len(path.read_text().split()) for path in notes)}")
    slept = sleeps(".swift", r"(?:Task\.sleep|usleep|nanosleep)\("), sleeps(".py", r"time\.sleep\(")
    yield "sleeps in tests: Swift, Python", "{}, {}".format(*slept)
    yield "commit", subprocess.run(
        ["git", "-C", str(ROOT), "describe", "--always", "--dirty"], capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    for name, value in measures():
        print(f"{name:<62} {value}")
