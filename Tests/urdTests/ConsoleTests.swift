import JSON
import Testing

@testable import urd

@Suite("What a command writes")
struct ConsoleTests {
    @Test func `a table stands in columns`() {
        var table = Table("name", "events", "state", numbers: ["events"])
        table.add("clients", "12", "live")
        table.add("audit_trail", "1200", "")
        #expect(
            table.render() == """
                NAME         EVENTS  STATE
                clients          12  live
                audit_trail    1200
                """)
        #expect(Table("a").render() == "(none)")
    }

    @Test(arguments: [
        ("plain Größe 名", "plain Größe 名"), ("a\u{1B}[2Jb", "a\\u{1b}[2Jb"),
        ("\u{202E}txt.exe", "\\u{202e}txt.exe"), ("a\r\u{7F}\u{9B}", "a\\u{d}\\u{7f}\\u{9b}"),
        ("one\ntwo\tthree", "one\ntwo\tthree"),
    ])
    func `printed text cannot control the terminal`(text: String, shown: String) {
        #expect(Printable.text(text) == shown)
    }

    @Test func `a cell cannot begin a line of its own`() {
        var table = Table("name")
        table.add("one\nROOT  ok\r\n\u{1B}[1A")
        #expect(table.render() == "NAME\none ROOT  ok \\u{1b}[1A")
    }

    @Test func `output is JSON in a pipe or on request, else a table`() {
        let notes = Notes()
        var table = Table("a")
        table.add("1")
        notes.console().write(table, json: ["a": 1], asJSON: false)
        #expect(notes.output == "A\n1\n")
        notes.console().write(table, json: ["a": 1], asJSON: true)
        #expect(notes.output == "A\n1\n{\n  \"a\": 1\n}\n")
        #expect(notes.error.isEmpty)
    }
}

@Suite("Progress")
struct ProgressTests {
    @Test func `progress shows the rate and the time left of the last seconds`() {
        var meter = ProgressMeter("verified", unit: "events", total: 1_000_000)
        #expect(meter.advance(to: 0, at: .zero) == "verified: 0 of 1,000,000 events (0 %)")
        // Ten slow seconds, then fast ones: the slow ones are forgotten.
        for second in 1...10 { _ = meter.advance(to: Int64(second) * 1000, at: .seconds(second)) }
        for second in 11...16 {
            _ = meter.advance(to: 10_000 + Int64(second - 10) * 90_000, at: .seconds(second))
        }
        let line = meter.line(at: .seconds(16))
        #expect(line == "verified: 550,000 of 1,000,000 events (55 %), 90,000/s, 5 s left")
    }

    @Test func `progress is drawn five times a second at most`() {
        var meter = ProgressMeter("a", unit: "b", total: nil)
        let lines = (0..<1000).compactMap { meter.advance(to: $0, at: .milliseconds($0)) }
        #expect(lines.count == 5)
        #expect(meter.closing(at: .seconds(1)) == "a: 999 b in 1.0 s, 999/s")
    }

    @Test(arguments: [(0, "0"), (999, "999"), (1000, "1,000"), (-1_234_567, "-1,234,567")])
    func `progress groups thousands`(number: Int64, text: String) {
        #expect(ProgressMeter.grouped(number) == text)
    }

    @Test(arguments: [(0, "0 s"), (59, "59 s"), (61, "1 min 1 s"), (7322, "2 h 2 min")])
    func `progress shows times in words`(seconds: Int64, text: String) {
        #expect(ProgressMeter.spoken(seconds: seconds) == text)
    }

    @Test func `progress takes extreme numbers without harm`() {
        var meter = ProgressMeter("a", unit: "b", total: 0)
        _ = meter.advance(to: Int64.max, at: .nanoseconds(1))
        _ = meter.advance(to: Int64.min / 2, total: Int64.max, at: .seconds(1))
        #expect(!meter.line(at: .seconds(2)).isEmpty)
        #expect(!meter.closing(at: .zero).isEmpty)
        #expect(ProgressMeter.grouped(Int64.min).count == 26)
    }

    @Test func `progress fits one line of the terminal, and is not drawn without one`() {
        let notes = Notes()
        let progress = Progress(
            "label", unit: "units", on: notes.console(terminal: true, width: 10))
        progress.advance(to: 5)
        #expect(notes.error == "\rlabel: 5 \u{1B}[K")
        let silent = Notes()
        let none = Progress("label", unit: "units", on: silent.console())
        none.advance(to: 5)
        none.finish()
        #expect(silent.error.isEmpty)
    }
}
