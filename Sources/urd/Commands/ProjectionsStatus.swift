import EventStore
import JSON
import Postgres
import ReadModels
import Threads
import Values

/// Shows how far each read model is.
struct ProjectionsStatus: Subcommand {
    static let path = ["projections", "status"]
    static let summary = "Show every read model: its build, how far it is, and whether it halted"
    static let examples = ["urd projections status"]
    static let options = [Option.json]
    static let settings: [any AnySetting] = [Settings.databaseURL]

    func run(_ call: Invocation) async throws -> ExitCode {
        let address = try call.settings().require(Settings.databaseURL)
        let status = try await DedicatedThread.run {
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
        var members: JSONObject = [
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
