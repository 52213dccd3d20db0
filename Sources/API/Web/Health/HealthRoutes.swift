public import EventSourcing
public import HTTP
internal import JSON
public import Telemetry

/// What the private listener tells: whether the process lives, whether it can serve, and its
/// metrics. There is no authentication; the listener is not reachable from outside.
public struct HealthContext: RouteContext {
    public let components: @Sendable () async -> [ComponentState]
    public let metrics: Metrics
    /// Called before metrics are shown, for those that are looked up.
    let refresh: @Sendable () async -> Void

    public init(
        metrics: Metrics, refresh: @escaping @Sendable () async -> Void = {},
        components: @escaping @Sendable () async -> [ComponentState]
    ) {
        self.metrics = metrics
        self.refresh = refresh
        self.components = components
    }

    public func admit(
        _ request: Request, to route: Outline, realm: RealmID?, client: ClientCredentials?
    ) {}
}

/// How one part of the process is: the database, a projection, the sealer.
public struct ComponentState: Sendable, Equatable {
    public let name: String
    /// Whether requests can be served as this part is now.
    public let isReady: Bool
    /// A short code or sentence for operators: `halted at 4711`. Never personal data.
    public let detail: String?
    /// Whether an operator must look at it, though requests may be served all the while: no other node
    /// would serve them any better.
    public let needsAttention: Bool

    public init(
        name: String, isReady: Bool, detail: String? = nil, needsAttention: Bool = false
    ) {
        self.name = name
        self.isReady = isReady
        self.detail = detail
        self.needsAttention = needsAttention || !isReady
    }
}

/// The table of the private listener.
public enum HealthRoutes {
    public static let table: [Route<HealthContext>] = [live, ready, metrics]

    private static let live = Route<HealthContext>(
        .get, "/health/live", id: "getLiveness", tag: "Health",
        summary: "Reports whether the process answers at all.", right: .nothing,
        answer: Answer(
            status: .ok, description: "The process answers.",
            content: .json(
                .object(.required("status", .oneOf(["live"]), "Status; always live.")),
                example: ["status": "live"]))
    ) { _ throws(Problem) in
        .json(.ok, ["status": "live"])
    }

    private static let ready = Route<HealthContext>(
        .get, "/health/ready", id: "getReadiness", tag: "Health",
        summary: "Reports whether requests can be served, and what an operator must look at.",
        right: .nothing,
        answer: .ok(
            "They can; with 503 the same body says what cannot.",
            readiness, example: ["status": "ready", "attention": false, "components": [:]])
    ) { call throws(Problem) in
        let states = await call.context.components()
        let isReady = states.allSatisfy(\.isReady)
        var listed: JSONObject = [:]
        for state in states {
            var component: JSONObject = ["ready": .bool(state.isReady)]
            if let detail = state.detail { component["detail"] = .string(detail) }
            if state.needsAttention { component["attention"] = true }
            listed[state.name] = .object(component)
        }
        return .json(
            isReady ? .ok : .serviceUnavailable,
            [
                "status": isReady ? "ready" : "not ready",
                "attention": .bool(states.contains(where: \.needsAttention)),
                "components": .object(listed),
            ])
    }

    private static let readiness = Schema.object(
        .required("status", .oneOf(["ready", "not ready"]), "Status of all components together."),
        .required(
            "attention", .boolean,
            "Whether a component needs an operator, though requests may be served."),
        .required(
            "components",
            .map(
                of: .object(
                    .required("ready", .boolean, "Whether the component can serve requests."),
                    .optional("attention", .boolean, "Whether the component needs an operator."),
                    .optional("detail", .text(0...1000), "State of the component in a sentence."))),
            "Components by name."))

    private static let metrics = Route<HealthContext>(
        .get, "/metrics", id: "getMetrics", tag: "Health",
        summary: "Shows every metric in the text format of Prometheus.", right: .nothing,
        answer: Answer(
            status: .ok, description: "The metrics.", content: .text(Metrics.contentType))
    ) { call throws(Problem) in
        await call.context.refresh()
        return .text(.ok, Metrics.contentType, call.context.metrics.render())
    }
}
