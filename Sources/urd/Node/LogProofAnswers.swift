import API
import EventSourcing
import EventStore
import Postgres

/// Answers the admin API from the sealed log.
struct LogProofAnswers: LogProofQueries {
    private let proofs: LogProofs

    init(_ store: Store) {
        proofs = LogProofs(store.database, keyring: store.keyring)
    }

    func checkpoint(of realm: RealmID) async throws(LogFailure) -> [UInt8]? {
        try await proving { try await proofs.checkpoint(of: realm)?.note }
    }

    func inclusionProof(
        of position: Int64, in realm: RealmID
    ) async throws(LogFailure) -> InclusionView? {
        let found = try await proving { try await proofs.inclusion(of: position, in: realm) }
        guard let proof = found else { return nil }
        return InclusionView(
            position: position, record: proof.record, path: proof.path.map(\.bytes),
            checkpoint: proof.checkpoint.note)
    }

    func records(
        at positions: ClosedRange<Int64>, of realm: RealmID
    ) async throws(LogFailure) -> [[UInt8]] {
        try await proving { try await proofs.records(at: positions, in: realm) } ?? []
    }

    func tile(
        level: Int, index: Int64, width: Int, of realm: RealmID
    ) async throws(LogFailure) -> [UInt8]? {
        guard let address = TileAddress(.hashes(level: level), index: index, width: width) else {
            return nil
        }
        return try await proving { try await proofs.content(of: address, in: realm) }
    }

    /// What is not sealed yet is nothing to show, and no failure.
    private func proving<Value: Sendable>(
        _ read: () async throws -> Value?
    ) async throws(LogFailure) -> Value? {
        do {
            return try await read()
        } catch ProofFailure.damaged, ProofFailure.missing {
            throw .damaged
        } catch is ProofFailure {
            return nil
        } catch let failure as LogFailure {
            throw failure
        } catch is Database.Busy {
            throw .busy
        } catch {
            throw .unavailable
        }
    }
}
