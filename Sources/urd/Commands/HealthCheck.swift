import JSON
import Threads

/// Says by its exit code whether the server on this machine can serve, for what watches over containers.
struct HealthCheck: Subcommand {
    static let path = ["health"]
    static let summary = "Show whether the server on this machine can serve"
    static let examples = ["urd health", "urd health --live"]
    static let details = """
        Asks /health/ready at the listener for health and metrics. Ends with 0 where requests can be served, with 1
        where they cannot, or where nothing answers within two seconds. --live asks only whether the process answers.
        """
    static let options = [
        Option.flag("live", "Ask whether the process answers, ready or not"), Option.json,
    ]
    static let settings: [any AnySetting] = [Settings.privateAddress, Settings.privatePort]

    func run(_ call: Invocation) async throws -> ExitCode {
        let settings = try call.settings()
        let address = settings[Settings.privateAddress]
        let port = Listeners.port(
            settings, Settings.privatePort, call.environment["URD_PRIVATE_URL"])
        let path = call.arguments.has("live") ? "/health/live" : "/health/ready"
        let status = try await DedicatedThread.run {
            LocalHTTP.status(of: path, address: address, port: port)
        }
        let isWell = status == 200
        var table = Table("address", "answer")
        table.add(
            "http://\(address):\(port)\(path)",
            isWell ? "ready" : status.map { "not ready (\($0))" } ?? "none")
        call.console.write(
            table,
            json: [
                "ready": .bool(isWell), "status": status.map { .integer(Int64($0)) } ?? .null,
            ], asJSON: call.arguments.has("json"))
        return isWell ? .success : .failure
    }
}
