public import EventSourcing
import JSON

/// Hands the log to people who verify it without us: as one file of lines, or as the folder of
/// static files that C2SP's tlog-tiles describes.
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

    /// Writes the newest checkpoint, every tile, and every bundle of entries, each under its path.
    public func exportTiles(
        _ realm: RealmID, write: (_ path: String, _ content: [UInt8]) async throws -> Void
    ) async throws {
        guard let newest = try await checkpoint(of: realm) else {
            throw ProofFailure.notSealed(sealed: 0)
        }
        for level in 0..<TileFrontier.levels(of: newest.size) {
            let kinds: [TileAddress.Kind] =
                level == 0 ? [.hashes(level: 0), .entries] : [.hashes(level: level)]
            let full = TileAddress.fullTiles(level: level, size: newest.size)
            let rest = TileAddress.partialWidth(level: level, size: newest.size)
            for kind in kinds {
                for index in 0..<full {
                    try await copy(TileAddress(kind, index: index), of: realm, write)
                }
                if rest > 0 {
                    try await copy(TileAddress(kind, index: full, width: rest), of: realm, write)
                }
            }
        }
        try await write("checkpoint", newest.note)
    }

    private func copy(
        _ tile: TileAddress?, of realm: RealmID,
        _ write: (_ path: String, _ content: [UInt8]) async throws -> Void
    ) async throws {
        guard let tile, let content = try await content(of: tile, in: realm) else {
            throw ProofFailure.damaged
        }
        try await write(tile.path, content)
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
