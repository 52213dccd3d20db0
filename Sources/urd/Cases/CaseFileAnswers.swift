import API
import EventSourcing
import EventStore
import Postgres
import ReadModels
import Values

/// Case files over the database: their rows, and what the sealed log proves of them.
struct CaseFileAnswers: CaseFiles, StoredJobs {
    let rows: CaseFileStore
    private let proofs: LogProofs

    init(_ store: Store) {
        rows = CaseFileStore(store.database, hub: store.log.hub)
        proofs = LogProofs(store.database, keyring: store.keyring)
    }

    func checkpoint(
        of realm: RealmID
    ) async throws(LogFailure) -> (size: Int64, note: [UInt8])? {
        try await proving { try await proofs.checkpoint(of: realm) }.map { ($0.size, $0.note) }
    }

    func evidence(
        at positions: [Int64], under note: [UInt8], opens: Bool, in realm: RealmID
    ) async throws(LogFailure) -> [EventEvidence] {
        try await proving {
            try await proofs.evidence(at: positions, under: note, opens: opens, in: realm)
        }
    }

    func extent(of positions: [Int64], in realm: RealmID) async throws(LogFailure) -> EventExtent {
        try await proving { try await proofs.extent(of: positions, in: realm) }
    }

    func leaves(
        fromTile tile: Int64, count: Int, under note: [UInt8], in realm: RealmID
    ) async throws(LogFailure) -> [[[UInt8]]] {
        try await proving {
            try await proofs.leaves(fromTile: tile, count: count, under: note, in: realm)
        }
    }

    func sign(
        _ id: UUID, lines: Int64, chain: [UInt8], in realm: RealmID
    ) async throws(LogFailure) -> [UInt8] {
        try await proving {
            try await proofs.signCase(id, lines: lines, chain: chain, in: realm)
        }
    }

    /// A signed position that cannot be proven now means damage.
    private func proving<Value: Sendable>(
        _ read: () async throws -> Value
    ) async throws(LogFailure) -> Value {
        do {
            return try await read()
        } catch is ProofFailure {
            throw .damaged
        } catch let failure as LogFailure {
            throw failure
        } catch is Database.Busy {
            throw .busy
        } catch {
            throw .unavailable
        }
    }
}
