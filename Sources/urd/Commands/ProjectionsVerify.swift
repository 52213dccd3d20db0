import EventStore
import JSON
import Postgres
import ReadModels
import Values

/// Looks for drift between a read model and the log.
struct ProjectionsVerify: Subcommand {
    static let path = ["projections", "verify"]
    static let summary = "Build a read model anew, compare it with the live one, and drop it again"
    static let examples = ["urd projections verify clients"]
    static let details = "Ends with 1 when the live one is not what the log says."
    static let options = [Option.json]
    static let operands = [Operand("projection", "Its name, as `urd projections status` shows it")]
    static let settings: [any AnySetting] = [Settings.databaseOwnerURL]

    func run(_ call: Invocation) async throws -> ExitCode {
        let comparison = try await ProjectionWork(call).run { engine, name, report in
            try engine.verify(name, report: report)
        }
        ProjectionWork.show(comparison, call)
        if case .different = comparison { return .failure }
        return .success
    }
}
