import EventSourcing
import EventStore
import JSON

/// Shows that an event stands in the signed log, to people who need not trust this server.
struct Proof: Subcommand {
    static let path = ["proof"]
    static let summary = "Prove that an event stands in the signed log"
    static let examples = ["urd proof 1 --realm demo"]
    static let details = """
        Writes JSON that `Tests/Interop/verify_log.py proof` checks without Urd: the record, the
        hashes that lead from it to the root, and the signed checkpoint. `urd log key` gives the key
        to check the signature with.
        """
    static let options = [RealmOption.option]
    static let operands = [Operand("position", "The event's position in the realm's log")]
    static let settings = Store.settings

    func run(_ call: Invocation) async throws -> ExitCode {
        guard let text = call.arguments.words["position"]?.first, let position = Int64(text),
            position > 0
        else { throw UsageError("the position must be a number from 1 on") }
        return try await LogReading(call).run { proofs, realm in
            call.console.write(try await proofs.inclusion(of: position, in: realm).json)
        }
    }
}
