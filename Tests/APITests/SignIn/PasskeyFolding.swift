import EventSourcing
import Identity
import Postgres
import ReadModels
import Values

@testable import API

extension MemoryQueries {
    /// As from the database: what is asked for early is under way while the request goes on.
    func beginPasskeys(of account: UUID, in realm: RealmID) -> Later<[PasskeyView]> {
        let lookUps = QueryCoalescing<RealmID, UUID, [PasskeyView], [PasskeyView], LogFailure>(
            from: { use in
                Task {
                    do throws(LogFailure) {
                        use(.success(try await passkeys(of: account, in: realm)))
                    } catch {
                        use(.failure(error))
                    }
                }
            },
            ask: { found, _, accounts in
                .success(Dictionary(uniqueKeysWithValues: accounts.map { ($0, .success(found)) }))
            })
        let answer = lookUps.begin(account, in: realm)
        return { () throws(LogFailure) in try await answer.value ?? [] }
    }

    func passkeys(
        of account: UUID, in realm: RealmID
    ) async throws(LogFailure) -> [PasskeyView] {
        try await passkeys(in: realm).filter { $0.account == account }.reversed()
    }

    func passkeys(in realm: RealmID) async throws(LogFailure) -> [PasskeyView] {
        var found: [UUID: PasskeyView] = [:]
        for recorded in try await log.events(from: 1, limit: .max, in: realm)
        where recorded.name.hasPrefix("passkey.") {
            guard let event = PasskeyEvent(recorded) else { throw .damaged }
            let id = recorded.stream
            switch event {
            case .enrolled(let passkey):
                found[id] = PasskeyView(
                    id: id, account: passkey.account, relyingParty: passkey.relyingParty,
                    credential: passkey.key.id, publicKey: passkey.key.publicKey,
                    counter: passkey.key.counter,
                    isBackupEligible: passkey.key.isBackupEligible,
                    transports: passkey.key.transports, enrolledAt: recorded.at)
            case .enrollmentRefused: break
            case .used(let counter, _, _):
                found[id]?.counter = counter
                found[id]?.usedAt = recorded.at
            case .renamed: found[id]?.named = recorded.version
            case .removed: found[id] = nil
            }
        }
        return found.values.sorted { $0.id < $1.id }
    }
}
