import EventSourcing
import JSON
import Synchronization
import Testing

@testable import urd

@Suite struct `What urd feed reads` {
    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test func `a line is an event, a place, an error or nothing, and never something unknown`()
        throws
    {
        let event = #"{"cursor":"3:7","type":"session.opened"}"#
        #expect(
            try FeedLine(bytes(event)) == .event(LogCursor(epoch: 3, position: 7), bytes(event)))
        #expect(
            try FeedLine(bytes(#"{"cursor":"3:8","data":{},"type":"urd.progress"}"#))
                == .progress(LogCursor(epoch: 3, position: 8)))
        #expect(
            try FeedLine(bytes(#"{"data":{"status":409},"type":"urd.error"}"#))
                == .error(["status": 409]))
        #expect(try FeedLine([]) == .nothing)
        #expect(try FeedLine(bytes(#"{"data":{},"type":"urd.checkpoint"}"#)) == .nothing)
        for wrong in ["{", "[]", #"{"type":"session.opened"}"#, "<html>"] {
            #expect(throws: CommandFailure.self) { try FeedLine(bytes(wrong)) }
        }
    }

    @Test func `lines are whole however they are cut, and what has no end is kept back`() throws {
        let text = bytes("one\n\ntwo\nthree")
        for size in 1...text.count {
            var splitter = LineSplitter()
            var lines: [[UInt8]] = []
            for start in stride(from: 0, to: text.count, by: size) {
                lines += try splitter.add(Array(text[start..<min(text.count, start + size)]))
            }
            #expect(lines == [bytes("one"), [], bytes("two")])
        }
    }

    @Test func `a reader stops at an error and keeps the place before it`() {
        let notes = Notes()
        let reader = FeedReader(
            FeedReader.Work(program: nil, file: nil, limit: .max, console: notes.console()), at: nil
        )
        reader.begin()
        #expect(reader.take(bytes("{\"cursor\":\"1:4\",\"type\":\"a.b\"}\n")))
        #expect(reader.hasMoved)
        #expect(!reader.take(bytes("{\"data\":{\"status\":409},\"type\":\"urd.error\"}\nrest")))
        #expect(reader.cursor == LogCursor(epoch: 1, position: 4))
        guard case .refused(let problem)? = reader.ending else {
            Issue.record("It did not stop.")
            return
        }
        #expect(problem["status"] == 409)
        #expect(notes.output == "{\"cursor\":\"1:4\",\"type\":\"a.b\"}\n")
    }

    @Test func `a reader ends after as many events as were asked for`() {
        let notes = Notes()
        let reader = FeedReader(
            FeedReader.Work(program: nil, file: nil, limit: 2, console: notes.console()), at: nil)
        let line = "{\"cursor\":\"1:4\",\"type\":\"a.b\"}\n"
        #expect(!reader.take(bytes(line + line + line)))
        #expect(notes.output == line + line)
    }
}
