import EventSourcing
import EventStore
import JSON

/// The public key for those who verify signatures.
struct LogKey: Subcommand {
    static let path = ["log", "key"]
    static let summary = "Show the public key that a realm's checkpoints are signed with"
    static let examples = ["urd log key --realm demo"]
    static let options = [RealmOption.option]
    static let settings = Store.settings

    func run(_ call: Invocation) async throws -> ExitCode {
        try await LogReading(call).run { proofs, realm in
            call.console.write(try await proofs.verifier(of: realm).description)
        }
    }
}
