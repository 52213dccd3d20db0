import EventSourcing
import EventStore
import JSON

/// What the commands that hand out parts of the log have in common.
struct LogReading {
    private let call: Invocation
    private let named: RealmOption

    init(_ call: Invocation) throws(UsageError) {
        named = try RealmOption(call)
        self.call = call
    }

    func run(_ work: (LogProofs, RealmID) async throws -> Void) async throws -> ExitCode {
        let store = try Store(call.settings())
        defer { store.close() }
        try await store.checkSchema()
        try await named.requireExists(in: store)
        do {
            try await work(LogProofs(store.database, keyring: store.keyring), named.realm)
        } catch let failure as ProofFailure {
            throw CommandFailure(failure.description)
        }
        return .success
    }
}
