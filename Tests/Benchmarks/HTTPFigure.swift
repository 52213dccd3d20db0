import HTTP
import HTTPServer

/// What the HTTP server makes of the machine's sockets.
enum HTTPFigure {
    private static let name = "plain answers through a task each, 64 connections"

    static func measure(_ workshop: Workshop) async throws -> [Figure] {
        guard Program.isInstalled("wrk") else {
            return [
                Figure(
                    "http", name, nil, "requests/s", bar: .none,
                    note: "Not measured: wrk is not installed.")
            ]
        }
        let server = try Server(Configuration()) { _ in
            Response(status: .ok, headers: Headers(), body: Array("ok".utf8))
        }
        let bare = try BareResponder()
        let count = workshop.size(short: 3, full: 5)
        workshop.progress.begin("http", rounds: count)
        let rounds = try await Rounds.run(count, workshop.progress) {
            try Wrk.run("http://127.0.0.1:\(server.port)/")
        } limit: {
            try Wrk.run("http://127.0.0.1:\(bare.port)/")
        }
        bare.stop()
        await server.stop(drain: .seconds(1))
        return [
            Figure(
                "http", name, rounds.median.value, "requests/s",
                limit: .init(
                    name: "a thread per connection, same bytes", value: rounds.median.limit),
                bar: .none)
        ]
    }
}
