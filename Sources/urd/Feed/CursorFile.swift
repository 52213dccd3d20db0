import EventSourcing

/// Where a follower keeps its place between runs. It is on the disk before it counts.
struct CursorFile: Sendable {
    let path: String

    /// Nil without a stored cursor.
    func read() throws(CommandFailure) -> LogCursor? {
        guard File.exists(path) else { return nil }
        let text: String
        do throws(SystemFailure) {
            text = try File.text(path)
        } catch {
            throw CommandFailure("\(error)")
        }
        let line = text.split(separator: "\n").first.map(String.init) ?? ""
        guard let cursor = LogCursor(line) else {
            throw CommandFailure(
                "\(path) holds no cursor such as 3:48211",
                remedy: "Name another file, or write into it where to go on.")
        }
        return cursor
    }

    func write(_ cursor: LogCursor) throws(CommandFailure) {
        do throws(SystemFailure) {
            try File.writeAtomically(Array("\(cursor)\n".utf8), to: path, mode: 0o644)
        } catch {
            throw CommandFailure("\(error)", remedy: "The event comes again, once this is mended.")
        }
    }
}
