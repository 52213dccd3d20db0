/// Who asked for an event, apart: what kind they are, and their name among their kind.
struct EventActor: Sendable, Equatable {
    /// The kinds of the CloudEvents extension Auth Context.
    enum Kind: String, Sendable {
        /// A person of the realm.
        case person = "app_user"
        /// An operator at the command line, or with a configuration file.
        case `operator` = "user"
        case client = "service_account"
        /// An admin key, or the token that a client registered with.
        case key = "api_key"
        case system
        case anonymous = "unauthenticated"
        case unknown
    }

    let kind: Kind
    /// Nil for an actor whose kind has a single member.
    let id: String?

    init(_ actor: String) {
        let (head, id) = actor.splitOnce(":")
        self.id = id ?? (head.isEmpty || head == "anonymous" || head == "system" ? nil : head)
        kind =
            switch head {
            case "user": .person
            case "operator", "apply": .operator
            case "client": .client
            case "admin", "registration-token": .key
            // A provider ends its own sessions.
            case "provider": .client
            case "system", "mailer", "logout", "notifications", "webhooks", "signals": .system
            case "anonymous", "": .anonymous
            default: .unknown
            }
    }
}

/// What a request's `traceparent` says, which an event keeps as its correlation.
struct TraceReference: Sendable {
    /// The trace alone, or all of it where it has another form.
    let id: String
    /// As W3C Trace Context has it, or nil.
    let parent: String?

    init(_ correlation: String) {
        let parts = correlation.utf8.split(separator: UInt8(ascii: "-"))
        guard parts.count == 4, parts.map(\.count) == [2, 32, 16, 2] else {
            (id, parent) = (correlation, nil)
            return
        }
        (id, parent) = (String(Substring(parts[1])), correlation)
    }
}

extension String {
    /// What stands before the first separator, and behind it; nil without one.
    fileprivate func splitOnce(_ separator: Character) -> (String, String?) {
        guard let place = firstIndex(of: separator) else { return (self, nil) }
        return (String(self[..<place]), String(self[index(after: place)...]))
    }
}
