public import EventSourcing
internal import HTML
public import HTTP
internal import JSON
public import ReadModels
internal import Values

/// What the list of deliveries of a development run shows.
public struct DeliveryPageContext: RouteContext {
    /// The newest attempts of all webhooks, the newest first.
    let attempts: @Sendable () async -> [RecentAttempt]

    public init(attempts: @escaping @Sendable () async -> [RecentAttempt]) {
        self.attempts = attempts
    }

    public func admit(
        _ request: Request, to route: Outline, realm: RealmID?, client: ClientCredentials?
    ) {}
}

/// The deliveries of webhooks while developing, for people.
public enum DeliveryPageRoutes {
    public static let table: [Route<DeliveryPageContext>] = [list]

    private static let list = Route<DeliveryPageContext>(
        .get, "/deliveries", id: "showDeliveries", tag: "Inbox",
        summary: "Shows the newest attempts to deliver to webhooks.", right: .nothing,
        answer: Answer(status: .ok, description: "The list.", content: .text("text/html"))
    ) { call throws(Problem) in
        .page(
            DeliveryPage(attempts: await call.context.attempts()).html, DeliveryPage.policy)
    }
}

/// The HTML page of deliveries: the time, receiver and response of each attempt.
struct DeliveryPage {
    let attempts: [RecentAttempt]

    static let policy =
        "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'"

    var html: [UInt8] {
        HTML.document(language: "en") {
            HTML.element(.meta, .charset("utf-8"))
            HTML.element(.meta, .name("viewport"), .content("width=device-width, initial-scale=1"))
            HTML.element(.meta, .fixed("http-equiv", "refresh"), .content("5"))
            HTML.element(.title) { "Deliveries" }
            HTML.style(Self.sheet)
        } body: {
            HTML.element(.main) {
                HTML.element(.h1) { "Deliveries" }
                if attempts.isEmpty {
                    HTML.element(.p) {
                        "Nothing yet. `urd webhook create` has events sent to an address."
                    }
                }
                for one in attempts {
                    HTML.element(.article) {
                        HTML.element(.h2) { "\(one.attempt.type) → \(one.name)" }
                        HTML.element(.p, .class("quiet")) { Self.line(one) }
                        if !one.attempt.answer.isEmpty {
                            HTML.element(.pre) { one.attempt.answer }
                        }
                    }
                }
            }
        }.bytes
    }

    private static func line(_ one: RecentAttempt) -> String {
        let attempt = one.attempt
        let place = attempt.position == 0 ? "a test" : "position \(attempt.position)"
        return "\(attempt.outcome), status \(attempt.status), \(attempt.milliseconds) ms, "
            + "\(place) of \(one.realm), \(attempt.at.description.prefix(19))Z"
            + (attempt.isReplay ? ", a replay" : "")
    }

    private static let sheet = """
        :root{color-scheme:light dark}
        body{margin:0;font:16px/1.5 system-ui,sans-serif}
        main{max-width:44rem;margin:0 auto;padding:2rem 1rem}
        article{border:1px solid #8884;border-radius:12px;padding:1rem 1.25rem;margin:0 0 1rem}
        h1{font-size:1.5rem}h2{font-size:1.05rem;margin:0}
        .quiet{opacity:.7;margin:.25rem 0 0}
        pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:.5rem 0 0;font-size:.9rem}
        """
}
