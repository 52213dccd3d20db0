import EventStore
import JSON
import Laws
import Values

/// What the laws of `Laws` say of exports on the standard input: one line of JSON for each, as soon as the next begins.
///
///     {"realm":"acme","first":1}      the header of an export
///     {"at":…,"command":…,…}          an event
///     {"checkpoint":"…"}
@main struct Main {
    static func main() throws {
        var log: ExportedLog?
        while let line = readLine() {
            let value = try JSON.parse(Array(line.utf8))
            if let note = value["checkpoint"]?.string {
                try log?.takeCheckpoint(note)
            } else if value["type"] != nil {
                try log?.take(value, line: Array(line.utf8))
            } else {
                show(log)
                log = ExportedLog(from: value["first"]?.integer ?? 1)
            }
        }
        show(log)
    }

    private static func show(_ log: ExportedLog?) {
        guard let log else { return }
        print(String(decoding: log.laws.findings().json.canonical(), as: UTF8.self))
    }
}

/// An export, as far as it was read.
struct ExportedLog {
    enum Failure: Error { case notOfAnExport }

    private(set) var laws: Lawbook
    private let first: Int64
    private var position: Int64
    private var tree = TileFrontier()

    init(from first: Int64) {
        laws = Lawbook(from: first)
        self.first = first
        position = first - 1
    }

    mutating func take(_ record: JSON, line: [UInt8]) throws {
        position += 1
        guard let at = record["at"]?.integer, let version = record["version"]?.integer,
            let command = record["command"]?.string.flatMap({ UUID($0) }),
            let stream = record["stream"]?.string.flatMap({ UUID($0) }),
            let type = record["type"]?.string, let data = record["data"],
            let meta = record["meta"]
        else { throw Failure.notOfAnExport }
        let texts = (Array(type.utf8), data.canonical(), meta.canonical())
        texts.0.withUnsafeBytes { type in
            texts.1.withUnsafeBytes { data in
                texts.2.withUnsafeBytes { meta in
                    laws.take(
                        LoggedEvent(
                            position: position, at: at, command: command, stream: stream,
                            subject: record["subject"]?.string.flatMap { UUID($0) },
                            isSealed: record["sealed"] != nil, type: type,
                            version: Int32(version), data: data, meta: meta))
                }
            }
        }
        tree.append(Merkle.leaf(line)) { _ in }
    }

    mutating func takeCheckpoint(_ note: String) throws {
        let text = note.split(separator: "\n\n", maxSplits: 1)[0] + "\n"
        guard let checkpoint = Checkpoint(text: Array(text.utf8)) else {
            throw Failure.notOfAnExport
        }
        let isKnown = first == 1 && checkpoint.size == position
        laws.takeCheckpoint(
            size: checkpoint.size, epoch: checkpoint.epoch ?? 1,
            isOfLog: isKnown ? checkpoint.root == tree.root : nil)
    }
}
