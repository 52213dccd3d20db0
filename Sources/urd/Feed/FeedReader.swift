import EventSourcing
import JSON
import Synchronization
import Threads

/// Does with each line of a feed what was asked for, on the thread that reads the connection: until an
/// event is done with, no other one is read.
final class FeedReader: Sendable {
    struct Work: Sendable {
        /// Nil: events are written to the output.
        let program: EventProgram?
        let file: CursorFile?
        let limit: Int64
        let console: Console
        /// Where a replay is shown; nil for a feed.
        var screen: ReplayScreen?

        init(program: EventProgram?, file: CursorFile?, limit: Int64, console: Console) {
            self.program = program
            self.file = file
            self.limit = limit
            self.console = console
        }

        init(screen: ReplayScreen, console: Console) {
            self.init(program: nil, file: nil, limit: .max, console: console)
            self.screen = screen
        }
    }

    enum Ending {
        case limit
        case outputLost
        case refused(JSONObject)
        case failed(CommandFailure)
    }

    private struct State {
        var lines = LineSplitter()
        var written: LogCursor?
        var count: Int64 = 0
        var hasMoved = false
        var ending: Ending?
    }

    private let work: Work
    private let state: Mutex<State>
    /// Of the last event that was handled. By itself: it can be asked while an event waits for the Enter key.
    private let reached: Mutex<LogCursor?>
    private let isCancelled = Atomic(false)

    init(_ work: Work, at cursor: LogCursor?) {
        self.work = work
        state = Mutex(State(written: cursor))
        reached = Mutex(cursor)
    }

    var cursor: LogCursor? { reached.withLock { $0 } }
    var ending: Ending? { state.withLock { $0.ending } }

    /// From now on no line is looked at: what is being handled is the last one.
    func cancel() { isCancelled.store(true, ordering: .relaxed) }

    /// Before each connection: what came of a line whose end did not is forgotten.
    func begin() {
        state.withLock {
            $0.lines = LineSplitter()
            $0.hasMoved = false
        }
    }

    /// Whether anything came over this connection.
    var hasMoved: Bool { state.withLock { $0.hasMoved } }

    /// Takes a chunk of the stream; false ends the request.
    func take(_ piece: [UInt8]) -> Bool {
        state.withLock { state in
            do throws(CommandFailure) {
                for line in try state.lines.add(piece) {
                    try take(FeedLine(line), &state)
                    if state.ending != nil { break }
                }
                try keep(&state)
            } catch {
                state.ending = .failed(error)
            }
            return state.ending == nil
        }
    }

    private func take(_ line: FeedLine, _ state: inout State) throws(CommandFailure) {
        guard !isCancelled.load(ordering: .relaxed) else { return }
        switch line {
        case .nothing: break
        case .progress(let cursor):
            reached.withLock { $0 = cursor }
            state.hasMoved = true
        case .clock(let cursor, let members):
            reached.withLock { $0 = cursor }
            state.hasMoved = true
            work.screen?.tell(members)
        case .replayed(let members):
            work.screen?.end(members)
            state.ending = .limit
        case .error(let members): state.ending = .refused(members)
        case .event(let cursor, let bytes):
            guard try handle(bytes, cursor) else {
                state.ending = .outputLost
                return
            }
            reached.withLock { $0 = cursor }
            state.hasMoved = true
            state.count += 1
            // What a program has done must not be done again after a crash.
            if work.program != nil { try keep(&state) }
            if state.count >= work.limit { state.ending = .limit }
        }
    }

    private func keep(_ state: inout State) throws(CommandFailure) {
        guard let file = work.file, let cursor = self.cursor, cursor != state.written else {
            return
        }
        try file.write(cursor)
        state.written = cursor
    }

    /// False where the reader has closed the output.
    private func handle(_ bytes: [UInt8], _ cursor: LogCursor) throws(CommandFailure) -> Bool {
        if let screen = work.screen { return screen.show(bytes) }
        guard let program = work.program else {
            work.console.send(bytes + [0x0A], .output)
            do {
                try work.console.checkOutput()
            } catch {
                return false
            }
            return true
        }
        var pause = 1000
        while true {
            let ending = try program.run(bytes, cursor)
            if ending.isSuccess { return true }
            work.console.complain(
                "urd: \(cursor): \(ending.description); again in \(pause / 1000) s")
            for _ in 0..<pause / 100 {
                if isCancelled.load(ordering: .relaxed) { return false }
                DedicatedThread.sleep(milliseconds: 100)
            }
            pause = min(pause * 2, 30_000)
        }
    }
}
