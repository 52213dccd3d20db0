import EventSourcing
import EventStore
import JSON

/// The newest signed checkpoint.
struct LogCheckpoint: Subcommand {
    static let path = ["log", "checkpoint"]
    static let summary = "Show the newest signed checkpoint of a realm"
    static let examples = ["urd log checkpoint --realm demo"]
    static let options = [RealmOption.option]
    static let settings = Store.settings

    func run(_ call: Invocation) async throws -> ExitCode {
        try await LogReading(call).run { proofs, realm in
            guard let checkpoint = try await proofs.checkpoint(of: realm) else {
                throw CommandFailure("nothing of the realm '\(realm)' is sealed yet")
            }
            call.console.send(checkpoint.note, .output)
        }
    }
}
