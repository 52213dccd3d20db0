import EventStore
import JSON
import Postgres
import ReadModels
import Threads
import Values

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
        _ work:
            @escaping @Sendable (ProjectionEngine, String, @escaping ProjectionEngine.Report)
            throws -> Value
    ) async throws -> Value {
        do {
            return try await DedicatedThread.run {
                let report = ProjectionReport(name, console)
                return try work(ProjectionEngine(address), name) { report.show($0) }
            }
        } catch ProjectionFailure.unknown(let name) {
            throw CommandFailure.missing(
                "projection", name, among: Projection.all.map(\.name),
                remedy: "`urd projections status` names them.")
        } catch let failure as ProjectionFailure {
            throw CommandFailure(failure.description)
        }
    }

    static func show(_ comparison: Comparison, _ call: Invocation) {
        var table = Table("result")
        var json: JSONObject = [:]
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
