import EventSourcing
import Values

/// The files of an export that goes on: each has what happened since the one before it, and names it. So the files
/// themselves say where to go on, also after a crash.
struct ExportRotation: Sendable {
    let folder: String
    let realm: RealmID
    let fileExtension: String
    /// Of the lines: two series of one folder would leave out what the other has.
    var format = "ndjson"

    /// `acme-1-000000000000001-000000000000700.ndjson`: epoch, first and last position.
    func name(after start: LogCursor, to end: LogCursor) -> String {
        "\(realm)-\(end.epoch)-\(Self.digits(start.position + 1))-\(Self.digits(end.position))"
            + ".\(fileExtension)"
    }

    /// The end of a file of this name; nil where it is none of these.
    func end(of name: String) -> LogCursor? {
        let head = "\(realm)-"
        let tail = ".\(fileExtension)"
        guard name.hasPrefix(head), name.hasSuffix(tail) else { return nil }
        let numbers = name.dropFirst(head.utf8.count).dropLast(tail.utf8.count)
            .split(separator: "-", omittingEmptySubsequences: false)
        guard numbers.count == 3, numbers[1].utf8.count == 15, numbers[2].utf8.count == 15,
            let epoch = Int(numbers[0]), Int64(numbers[1]) != nil, let last = Int64(numbers[2])
        else { return nil }
        return LogCursor(epoch: epoch, position: last)
    }

    /// Where to go on: behind the newest file, or behind what is kept beside the files, which an operator may
    /// have taken away.
    func place() throws -> LogCursor? {
        let known = try File.names(in: folder).compactMap(end)
        let kept = try cursorFile.read()
        return (known + [kept].compactMap { $0 }).max {
            ($0.epoch, $0.position) < ($1.epoch, $1.position)
        }
    }

    /// Keeps the format beside the files; throws where those that are there have another one.
    func claim() throws {
        let path = "\(folder)/.\(realm).\(fileExtension).format"
        let known = File.exists(path) ? try File.text(path) : nil
        if let known, known != format {
            throw CommandFailure(
                "\(folder) holds an export of --format \(known)",
                remedy: "Name another --dir for \(format), or go on with --format \(known).")
        }
        if known == nil { try File.writeAtomically(Array(format.utf8), to: path, mode: 0o644) }
    }

    var cursorFile: CursorFile { CursorFile(path: "\(folder)/.\(realm).\(fileExtension).cursor") }

    /// What a crash left behind: halves, and files without a sum.
    func tidy() throws {
        for name in try File.names(in: folder)
        where name.hasPrefix("\(realm)-") && name.hasSuffix(".part") {
            try File.remove("\(folder)/\(name)")
        }
        for name in try File.names(in: folder)
        where end(of: name) != nil && !File.exists("\(folder)/\(name).sha256") {
            try writeSum(SHA256File.sum(of: "\(folder)/\(name)"), of: name)
        }
    }

    /// In the form that `sha256sum --check` reads.
    func writeSum(_ sum: String, of name: String) throws {
        try File.writeAtomically(
            Array("\(sum)  \(name)\n".utf8), to: "\(folder)/\(name).sha256", mode: 0o644)
    }

    private static func digits(_ position: Int64) -> String {
        let digits = String(position)
        return String(repeating: "0", count: max(0, 15 - digits.utf8.count)) + digits
    }
}
