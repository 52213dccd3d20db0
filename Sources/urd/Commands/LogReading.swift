import EventSourcing
import EventStore
import JSON

/// What the commands that hand out parts of the log have in common.
struct LogReading {
    private let call: Invocation
    private let realm: RealmID

    init(_ call: Invocation) throws(UsageError) {
        guard let name = call.arguments.value("realm") ?? call.environment["URD_REALM"] else {
            throw UsageError("--realm is missing")
        }
        guard let realm = RealmID(name) else { throw UsageError("'\(name)' is no realm") }
        self.realm = realm
        self.call = call
    }

    func run(_ work: (LogProofs, RealmID) async throws -> Void) async throws -> ExitCode {
        let store = try Store(call.settings())
        defer { store.close() }
        try await store.checkSchema()
        guard try await store.log.head(of: realm).position > 0 else {
            throw CommandFailure("there is no realm '\(realm)'")
        }
        do {
            try await work(LogProofs(store.database, keyring: store.keyring), realm)
        } catch let failure as ProofFailure {
            throw CommandFailure(failure.description)
        }
        return .success
    }
}
