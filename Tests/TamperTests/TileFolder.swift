import EventSourcing
import Foundation

@testable import EventStore

/// A sealed log as the folder of static files that C2SP's tlog-tiles describes: what a mirror that asks
/// for every tile ends up with.
struct TileFolder {
    let root: String
    private(set) var paths: [String] = []

    init(root: String) { self.root = root }

    /// Every tile, every bundle of entries and the newest checkpoint, each under its path.
    mutating func fill(from proofs: LogProofs, _ realm: RealmID) async throws {
        guard let newest = try await proofs.checkpoint(of: realm) else {
            throw ProofFailure.notSealed(sealed: 0)
        }
        for level in 0..<TileFrontier.levels(of: newest.size) {
            let kinds: [TileAddress.Kind] =
                level == 0 ? [.hashes(level: 0), .entries] : [.hashes(level: level)]
            let full = TileAddress.fullTiles(level: level, size: newest.size)
            let rest = TileAddress.partialWidth(level: level, size: newest.size)
            for kind in kinds {
                for index in 0..<full {
                    try await copy(TileAddress(kind, index: index), from: proofs, realm)
                }
                if rest > 0 {
                    try await copy(
                        TileAddress(kind, index: full, width: rest), from: proofs, realm)
                }
            }
        }
        try write("checkpoint", newest.note)
    }

    private mutating func copy(
        _ tile: TileAddress?, from proofs: LogProofs, _ realm: RealmID
    ) async throws {
        guard let tile, let content = try await proofs.content(of: tile, in: realm) else {
            throw ProofFailure.damaged
        }
        try write(tile.path, content)
    }

    private mutating func write(_ path: String, _ content: [UInt8]) throws {
        let file = URL(fileURLWithPath: "\(root)/\(path)")
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(content).write(to: file)
        paths.append(path)
    }
}
