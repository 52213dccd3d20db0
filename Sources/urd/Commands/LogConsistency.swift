import EventSourcing
import EventStore
import JSON

/// Shows that the log was only ever extended since a checkpoint that was kept.
struct LogConsistency: Subcommand {
    static let path = ["log", "consistency"]
    static let summary = "Prove that the newest checkpoint extends an older one"
    static let examples = ["urd log consistency SIZE --realm demo"]
    static let options = [RealmOption.option]
    static let operands = [Operand("size", "The size in the older checkpoint")]
    static let settings = Store.settings

    func run(_ call: Invocation) async throws -> ExitCode {
        guard let text = call.arguments.words["size"]?.first, let size = Int64(text), size > 0
        else { throw UsageError("the size must be a number from 1 on") }
        return try await LogReading(call).run { proofs, realm in
            call.console.write(try await proofs.consistency(from: size, in: realm).json)
        }
    }
}
