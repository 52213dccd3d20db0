/// A rule that the server keeps at every request, in the words of docs/laws.md.
struct Law {
    let number: Int
    let sentence: String
    let checks: [Check]

    init(_ number: Int, _ sentence: String, _ checks: [Check] = []) {
        self.number = number
        self.sentence = sentence
        self.checks = checks
    }

    /// The types of the events that it reads; none: it reads all events, or checkpoints.
    var types: Set<String> { Set(checks.flatMap(\.types).map(\.description)) }

    /// Anew for each log: checks remember what they saw.
    static func all() -> [Law] {
        (ofLog() + ofRealms() + ofAccounts() + ofProofs() + ofClients() + ofSessions()
            + ofCredentials() + ofOperators() + ofDeliveries())
            .sorted { $0.number < $1.number }
    }
}

/// What looks at the events of some types, for one law.
struct Check {
    /// None: it looks at every event.
    let types: [StaticString]
    let look: (inout Past, Event) -> Void

    init(_ types: [StaticString], _ look: @escaping (inout Past, Event) -> Void) {
        self.types = types
        self.look = look
    }

    init(_ types: StaticString..., look: @escaping (inout Past, Event) -> Void) {
        self.init(types, look)
    }
}
