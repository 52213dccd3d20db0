public import EventSourcing
import JSON

/// Hands the log to people who verify it without us, as one file of lines. The tiles of C2SP's tlog-tiles
/// are read one by one through `content(of:in:)`.
extension LogProofs {
    /// Writes a header, each record on a line of its own, and each checkpoint behind the last record
    /// that it covers.
    public func export(
        _ realm: RealmID, from first: Int64 = 1, to last: Int64? = nil,
        write: ([UInt8]) async throws -> Void
    ) async throws {
        let first = max(1, first)
        let (sealed, beginning) = try await read(realm) { reader in
            guard first <= reader.size else { throw ProofFailure.notSealed(sealed: reader.size) }
            return (reader.size, try reader.beginning(first - 1))
        }
        let last = min(max(first, last ?? sealed), sealed)
        let header: JSON = [
            "format": "urd-log/1", "realm": .string(realm.name), "first": .integer(first),
            "last": .integer(last), "before": .array(beginning.map(\.json)),
        ]
        try await write(header.canonical() + [newline])
        var next = first
        while next <= last {
            let positions = next...min(last, next + 9_999)
            try await write(read(realm) { reader in try reader.lines(positions) })
            next = positions.upperBound + 1
        }
    }
}

private let newline: UInt8 = 0x0A

extension SealedReader {
    fileprivate func lines(_ positions: ClosedRange<Int64>) throws -> [UInt8] {
        var checkpoints = try checkpoints(positions)[...]
        var lines: [UInt8] = []
        try records(positions) { position, record in
            lines.append(contentsOf: record)
            lines.append(newline)
            while let checkpoint = checkpoints.first, checkpoint.size == position {
                checkpoints.removeFirst()
                JSON.object(["checkpoint": checkpoint.json]).write(into: &lines)
                lines.append(newline)
            }
        }
        return lines
    }
}
