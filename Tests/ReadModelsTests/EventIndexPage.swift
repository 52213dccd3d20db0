import Foundation

/// The table in `docs/event-index.md`.
enum EventIndexPage {
    static func rows() throws -> [String] {
        let page = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "docs/event-index.md")
        let lines = try String(contentsOf: page, encoding: .utf8).components(separatedBy: "\n")
        return Array(
            lines.drop { !$0.hasPrefix("| event |") }.dropFirst(2).prefix { $0.hasPrefix("| `") })
    }

    /// Writes what there is now where `URD_GOLDEN` says, for a look at the difference.
    static func write(_ rows: [String]) throws {
        guard let folder = ProcessInfo.processInfo.environment["URD_GOLDEN"] else { return }
        try Data((rows.joined(separator: "\n") + "\n").utf8).write(
            to: URL(filePath: folder).appending(path: "event-index.txt"))
    }
}
