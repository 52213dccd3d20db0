import Glibc

/// Programs of which each reads what the one before it writes.
struct ProgramPipe: Sendable {
    private let programs: [ChildProcess]

    init(_ programs: [ChildProcess]) {
        self.programs = programs
    }

    /// Runs them to their ends, on a thread that may block. Throws with what they complain of where one fails.
    func run(from input: Int32? = nil, to output: Int32? = nil) throws {
        let nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC)
        guard nowhere >= 0 else { throw SystemFailure("write", "/dev/null") }
        defer { close(nowhere) }
        let complaints = try Self.pair()
        let started: [pid_t]
        do {
            defer { close(complaints.writing) }
            started = try start(from: input, to: output ?? nowhere, complaints.writing)
        } catch {
            close(complaints.reading)
            throw error
        }
        // Until all of them have ended.
        let text = (try? Descriptor.readAll(complaints.reading, "complaints")) ?? []
        close(complaints.reading)
        let endings = started.map { ChildProcess.wait(for: $0) }
        guard endings.contains(where: { !$0.isSuccess }) else { return }
        throw Self.failure(programs, endings, String(decoding: text, as: UTF8.self))
    }

    private func start(
        from input: Int32?, to output: Int32, _ complaints: Int32
    ) throws(SystemFailure) -> [pid_t] {
        var started: [pid_t] = []
        var source = input
        for (index, program) in programs.enumerated() {
            let isLast = index == programs.count - 1
            var next: (reading: Int32, writing: Int32)?
            var child = program
            child.input = source
            child.errors = complaints
            defer {
                if index > 0, let source = child.input { close(source) }
                if let next { close(next.writing) }
            }
            do throws(SystemFailure) {
                if !isLast { next = try Self.pair() }
                child.output = next?.writing ?? output
                started.append(try child.start())
            } catch {
                // Those before it find their output closed, and end.
                if let next { close(next.reading) }
                throw error
            }
            source = next?.reading
        }
        return started
    }

    /// Not a pipe: a pair of sockets is closed in other children from its very begin.
    private static func pair() throws(SystemFailure) -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw SystemFailure("open", "a pair of sockets")
        }
        return (ends[0], ends[1])
    }

    /// The first program that says itself that it failed: one whose output is not read any more is ended by a signal, and
    /// one whose input ends too early comes later.
    private static func failure(
        _ programs: [ChildProcess], _ endings: [ChildProcess.Ending], _ text: String
    ) -> CommandFailure {
        let said = endings.firstIndex { $0.code != nil && !$0.isSuccess }
        let index = said ?? endings.firstIndex { !$0.isSuccess } ?? 0
        let name = programs[index].executable.split(separator: "/").last.map(String.init) ?? ""
        let lines = text.split(whereSeparator: \.isNewline).prefix(4).joined(separator: "\n")
        return CommandFailure(
            "\(name) failed (\(endings[index].description))" + (lines.isEmpty ? "" : ": \(lines)"))
    }
}
