import EventSourcing
import Foundation
import Values

/// What the callers of a writer process were told, as they wrote it down outside of PostgreSQL.
struct LedgerFile {
    struct Place: Equatable {
        let first: Int64
        let count: Int64
    }

    let path: String
    private(set) var kept: [UUID: Place] = [:]
    private(set) var lost: Set<UUID> = []
    /// What no log may ever tell.
    private(set) var wrong: [String] = []
    private var offset: UInt64 = 0
    private var rest = ""

    init(_ name: String) {
        path = "\(FileManager.default.temporaryDirectory.path)/urd-ledger-\(name)-\(newID())"
    }

    func remove() {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Reads what was written since the last time.
    mutating func catchUp() throws {
        guard let file = FileHandle(forReadingAtPath: path) else { return }
        defer { try? file.close() }
        try file.seek(toOffset: offset)
        guard let bytes = try file.readToEnd() else { return }
        offset += UInt64(bytes.count)
        var lines = (rest + String(decoding: bytes, as: UTF8.self))
            .split(separator: "\n", omittingEmptySubsequences: false)
        rest = String(lines.removeLast())
        for line in lines { note(line) }
    }

    private mutating func note(_ line: Substring) {
        let words = line.split(separator: " ").map(String.init)
        guard words.count >= 2, let command = UUID(words[1]) else {
            wrong.append("unreadable: \(line)")
            return
        }
        switch words[0] {
        case "kept":
            guard words.count == 4, let first = Int64(words[2]), let count = Int64(words[3]) else {
                return wrong.append("unreadable: \(line)")
            }
            if kept.updateValue(Place(first: first, count: count), forKey: command) != nil {
                wrong.append("kept twice: \(command)")
            }
        case "lost": lost.insert(command)
        default: wrong.append(String(line))
        }
    }
}
