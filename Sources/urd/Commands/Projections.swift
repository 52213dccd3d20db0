import EventStore
import JSON
import Postgres
import ReadModels
import Values

/// Draws how far the building of a projection is.
struct ProjectionReport {
    private let progress: Progress

    init(_ name: String, _ console: Console) {
        progress = Progress("build \(name)", unit: "events", on: console)
    }

    func show(_ step: ProjectionProgress) {
        switch step {
        case .filling(let done, let total): progress.advance(to: done, of: total)
        case .finishing, .catchingUp, .comparing: break
        case .switching: progress.finish()
        }
    }
}

/// Shows how far each read model is.
struct ProjectionsStatus: Subcommand {
    static let path = ["projections", "status"]
    static let summary = "Show every read model: its build, how far it is, and whether it halted"
    static let options = [Option.json]
    static let settings: [any AnySetting] = [Settings.databaseURL]

    func run(_ call: Invocation) async throws -> ExitCode {
        let address = try call.settings().require(Settings.databaseURL)
        let status = try await OwnThread.run {
            try ProjectionStatus.read(Connection(address, application: "urd projections"))
        }
        var table = Table(
            "projection", "kind", "build", "realm", "position", "head", "lag", "state", "why",
            numbers: ["build", "position", "head", "lag"])
        for line in status {
            table.add(
                line.projection, line.kind.rawValue, String(line.build), line.realm,
                String(line.position), String(line.head), String(line.lag), line.state.rawValue,
                line.halt.map { "at \($0.position): \($0.why)" } ?? "")
        }
        call.console.write(
            table, json: .array(status.map(json)), asJSON: call.arguments.has("json"))
        return status.contains { $0.halt != nil } ? .failure : .success
    }

    private func json(_ line: ProjectionStatus) -> JSON {
        var members: [String: JSON] = [
            "projection": .string(line.projection), "kind": .string(line.kind.rawValue),
            "build": .integer(Int64(line.build)), "realm": .string(line.realm),
            "position": .integer(line.position), "head": .integer(line.head),
            "lag": .integer(line.lag), "state": .string(line.state.rawValue),
        ]
        if let halt = line.halt {
            members["halt"] = [
                "position": .integer(halt.position), "why": .string(halt.why),
                "since": .string(halt.since.description),
            ]
        }
        return .object(members)
    }
}

/// Builds a read model anew and switches to it.
struct ProjectionsRebuild: Subcommand {
    static let path = ["projections", "rebuild"]
    static let summary = "Build a read model anew beside the live one, compare, and switch to it"
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

/// Looks for drift between a read model and the log.
struct ProjectionsVerify: Subcommand {
    static let path = ["projections", "verify"]
    static let summary = "Build a read model anew, compare it with the live one, and drop it again"
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

/// Goes back to the build before.
struct ProjectionsRollback: Subcommand {
    static let path = ["projections", "rollback"]
    static let summary = "Switch a read model back to the build before the live one"
    static let options = [Option.json]
    static let operands = [Operand("projection", "Its name, as `urd projections status` shows it")]
    static let settings: [any AnySetting] = [Settings.databaseOwnerURL]

    func run(_ call: Invocation) async throws -> ExitCode {
        let build = try await ProjectionWork(call).run { engine, name, report in
            try engine.rollback(name, report: report)
        }
        var table = Table("live build")
        table.add(String(build))
        call.console.write(
            table, json: ["build": .integer(Int64(build))], asJSON: call.arguments.has("json"))
        return .success
    }
}

/// What the commands that work on one projection have in common.
struct ProjectionWork: Sendable {
    private let address: String
    private let name: String
    private let console: Console

    init(_ call: Invocation) throws {
        address = try call.settings().require(Settings.databaseOwnerURL)
        name = call.arguments.words["projection"]?.first ?? ""
        console = call.console
    }

    func run<Value: Sendable>(
        _ work: @escaping @Sendable (ProjectionEngine, String, @escaping ProjectionEngine.Report)
            throws -> Value
    ) async throws -> Value {
        do {
            return try await OwnThread.run {
                let report = ProjectionReport(name, console)
                return try work(ProjectionEngine(address), name) { report.show($0) }
            }
        } catch let failure as ProjectionFailure {
            throw CommandFailure(failure.description)
        }
    }

    static func show(_ comparison: Comparison, _ call: Invocation) {
        var table = Table("result")
        var json: [String: JSON] = [:]
        switch comparison {
        case .equal:
            table.add("equal")
            json["result"] = "equal"
        case .incomparable:
            table.add("not comparable: the definition changed")
            json["result"] = "incomparable"
        case .different(let differences):
            for difference in differences {
                table.add("\(difference.table) \(difference.key): \(difference.kind.rawValue)")
            }
            json["result"] = "different"
            json["differences"] = .array(
                differences.map {
                    [
                        "table": .string($0.table), "key": .string($0.key),
                        "kind": .string($0.kind.rawValue),
                    ]
                })
        }
        call.console.write(table, json: .object(json), asJSON: call.arguments.has("json"))
    }
}
