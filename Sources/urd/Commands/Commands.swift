/// Every command of `urd`, in the order in which help lists them.
enum Commands {
    static let all: [any Subcommand] = [
        Dev(steps: EmptySteps()), Doctor(tools: emptyTools), ConfigPrint(),
    ]
}

enum Version {
    static let text = "0.1.0"
}

/// Stands where the composition root's steps will: the cluster alone.
struct EmptySteps: DevelopmentSteps {
    func migrate(_ place: DevelopmentPlace) async throws {}

    func prepareDemo(_ place: DevelopmentPlace, previous: Demo?) async throws -> Demo {
        previous ?? Demo(realm: "demo", clientID: "demo", clientSecret: "none", adminKey: "none")
    }

    func serve(
        _ place: DevelopmentPlace, ready: @escaping @Sendable (Listening) async throws -> Void
    ) async throws {
        try await ready(Listening(port: place.port, privatePort: nil))
        while !Task.isCancelled { try? await Task.sleep(for: .seconds(3600)) }
    }
}

private let emptyTools = DoctorTools(
    query: { _, _ in throw CommandFailure("not wired yet") }, newestSchema: 0, now: { 0 })
