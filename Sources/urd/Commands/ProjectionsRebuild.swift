import EventStore
import JSON
import Postgres
import ReadModels
import Values

/// Builds a read model anew and switches to it.
struct ProjectionsRebuild: Subcommand {
    static let path = ["projections", "rebuild"]
    static let summary = "Build a read model anew beside the live one, compare, and switch to it"
    static let examples = ["urd projections rebuild clients"]
    static let details = "Nothing has to stop for it. The build before stays for `rollback`."
    static let options = [Option.json]
    static let operands = [Operand("projection", "Its name, as `urd projections status` shows it")]
    static let settings: [any AnySetting] = [Settings.databaseOwnerURL]

    func run(_ call: Invocation) async throws -> ExitCode {
        let comparison = try await ProjectionWork(call).run { engine, name, report in
            try engine.rebuild(name, report: report)
        }
        ProjectionWork.show(comparison, call)
        return .success
    }
}
