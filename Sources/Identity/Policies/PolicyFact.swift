public import EventSourcing
internal import JSON
public import Values

/// What an event says to those who follow accounts for a policy.
public enum PolicyFact: Sendable, Equatable {
    public struct SignIn: Sendable, Equatable {
        public var attempt: SignInAttempt
        /// The session that was opened.
        public var session: UUID
        /// Where it came of a session of the browser: which one.
        public var browser: UUID?
        public var expiresAt: Timestamp
        /// It is a session of the browser.
        public var isPage: Bool
        /// The streams of its client and its device: what access is removed from.
        public var places: [UUID] = []
    }

    case signIn(SignIn)
    /// A wrong guess at an account.
    case wrongTry(UUID)
    case refreshed(session: UUID)
    case ended(session: UUID)
    /// All sessions that the account had by then.
    case allEnded(account: UUID)
    /// All that it had by then at this client or on this device.
    case accessRemoved(UUID, account: UUID)
    case registered(account: UUID)
    case roles([String], account: UUID)
    case factorAdded(UUID, account: UUID)
    case factorRemoved(UUID, account: UUID)

    /// The types of events that say anything.
    public static let types = [
        AccountEvent.Form.accessRemoved.name, AccountEvent.Form.deleted.name,
        AccountEvent.Form.deletionScheduled.name,
        AccountEvent.Form.disabled.name,
        AccountEvent.Form.mailboxChanged.name, AccountEvent.Form.registered.name,
        AccountEvent.Form.rolesChanged.name,
        AccountEvent.Form.stampRotated.name, TenantMethodEvent.Form.keyEnrolled.name,
        TenantMethodEvent.Form.keyRemoved.name,
        BrowserSessionEvent.Form.ended.name, BrowserSessionEvent.Form.opened.name,
        BrowserSessionEvent.Form.refused.name, PasskeyEvent.Form.enrolled.name,
        PasskeyEvent.Form.removed.name, SessionEvent.Form.ended.name, SessionEvent.Form.opened.name,
        SessionEvent.Form.refreshed.name,
        SessionEvent.Form.refused.name, TwoFactorEvent.Form.confirmed.name,
        TwoFactorEvent.Form.removed.name,
    ]
}

/// A fact, with where it stands.
public struct PlacedFact: Sendable, Equatable {
    public let position: Int64
    public let at: Timestamp
    public let fact: PolicyFact
    /// Whether the filter selects the sign-in.
    public let isWanted: Bool

    init(_ fact: PolicyFact, position: Int64, at: Timestamp, isWanted: Bool = true) {
        self.position = position
        self.at = at
        self.fact = fact
        self.isWanted = isWanted
    }

    /// Nil where the event says nothing.
    /// - Parameter filter: which sign-ins are asked about; nil for all.
    public init?(_ event: ScannedEvent, filter: FilterExpression? = nil) throws(LogFailure) {
        guard let fact = try PolicyFact(event) else { return nil }
        (position, at, self.fact) = (event.position, event.at, fact)
        if case .signIn(let signIn) = fact, let filter {
            isWanted = filter.holds(for: signIn, event)
        } else {
            isWanted = true
        }
    }
}

extension PolicyFact {
    init?(_ event: ScannedEvent) throws(LogFailure) {
        switch event.name {
        case SessionEvent.Form.refreshed.name: self = .refreshed(session: event.stream)
        case SessionEvent.Form.ended.name, BrowserSessionEvent.Form.ended.name:
            self = .ended(session: event.stream)
        case AccountEvent.Form.registered.name: self = .registered(account: event.stream)
        case AccountEvent.Form.deleted.name, AccountEvent.Form.deletionScheduled.name,
            AccountEvent.Form.disabled.name,
            AccountEvent.Form.mailboxChanged.name, AccountEvent.Form.stampRotated.name:
            self = .allEnded(account: event.stream)
        case AccountEvent.Form.accessRemoved.name:
            guard let fields = event.open, let place = try? Field<AccessPlace>.place.read(fields)
            else { throw .damaged }
            self = .accessRemoved(place.stream, account: event.stream)
        case AccountEvent.Form.rolesChanged.name:
            guard let roles = GivenRoles(event.open?["roles"]) else { throw .damaged }
            self = .roles(
                Set(roles.byAudience.values.flatMap(\.self)).sorted(), account: event.stream)
        default:
            guard let fact = try Self.ofFields(event) else { return nil }
            self = fact
        }
    }

    private static func ofFields(_ event: ScannedEvent) throws(LogFailure) -> PolicyFact? {
        guard let fields = SignInFields(event) else { throw .damaged }
        switch event.name {
        case SessionEvent.Form.opened.name, BrowserSessionEvent.Form.opened.name:
            return signIn(event, fields)
        case SessionEvent.Form.refused.name, BrowserSessionEvent.Form.refused.name:
            guard let account = fields.account, FindingFact.isGuess(fields.reason, fields.method)
            else { return nil }
            return .wrongTry(account)
        case TwoFactorEvent.Form.confirmed.name, PasskeyEvent.Form.enrolled.name,
            TenantMethodEvent.Form.keyEnrolled.name:
            guard let account = fields.account else { throw .damaged }
            return .factorAdded(fields.key ?? event.stream, account: account)
        default:
            guard let account = fields.account else { throw .damaged }
            return .factorRemoved(fields.key ?? event.stream, account: account)
        }
    }

    /// A sign-in is what the login history has as one that went well.
    private static func signIn(_ event: ScannedEvent, _ fields: SignInFields) -> PolicyFact? {
        guard let account = fields.account, fields.method != GrantType.tokenExchange.rawValue else {
            return nil
        }
        return .signIn(
            SignIn(
                attempt: SignInAttempt(
                    account: account, at: event.at, client: fields.client,
                    // How the person signed in, the session of the browser knows.
                    method: fields.browser == nil ? fields.method : nil,
                    isStrong: fields.isStrong, country: fields.country, asn: fields.asn,
                    source: fields.source, device: fields.device,
                    isOfBrowser: fields.browser != nil),
                session: event.stream, browser: fields.browser,
                expiresAt: Timestamp(seconds: fields.expiresAt ?? .max),
                isPage: event.name == BrowserSessionEvent.Form.opened.name,
                places: [fields.clientStream, fields.federatedDevice].compactMap { $0 }))
    }
}

/// The open fields of an event that a policy asks for.
struct SignInFields: Equatable {
    var account: UUID?
    var browser: UUID?
    var key: UUID?
    var client: String?
    var clientStream: UUID?
    var federatedDevice: UUID?
    var method: String?
    var reason: String?
    var country: String?
    var source: String?
    var device: String?
    var asn: Int64?
    var expiresAt: Int64?
    var isStrong = false

    private init() {}

    /// Nil where the event cannot be read.
    init?(_ event: ScannedEvent) {
        self.init()
        var members = FlatMembers(event.data)
        while let (name, value, kind) = members.next() {
            take(members, name, value, kind, of: event.name)
        }
        if members.isPlain { return }
        guard let open = event.open else { return nil }
        self = SignInFields(open, of: event.name)
    }

    init(_ open: JSONObject, of type: String) {
        account = open.uuid("account")
        browser = open.uuid("browser")
        key = Self.hasKey(type) ? open.uuid("key") : nil
        client = open["client_id"]?.string
        clientStream = open.uuid("client")
        federatedDevice = open.uuid("federated_device")
        method = open["method"]?.string
        reason = open["reason"]?.string
        country = open["country"]?.string
        source = open["source"]?.string
        device = open["device"]?.string
        asn = open["asn"]?.integer
        expiresAt = open["expires_at"]?.integer
        isStrong = Self.areStrong(open.texts("amr") ?? [])
    }

    /// In sessions `key` is something else.
    private static func hasKey(_ type: String) -> Bool { type.hasPrefix("app_method.") }

    private static func areStrong(_ names: [String]) -> Bool {
        names.compactMap(AuthenticationFactor.init).areStrong
    }

    private mutating func take(
        _ members: FlatMembers, _ name: Range<Int>, _ value: Range<Int>,
        _ kind: FlatMembers.Kind, of type: String
    ) {
        func isNamed(_ text: StaticString) -> Bool { members.isNamed(name, text) }
        switch kind {
        case .text:
            switch name.count {
            case 3 where isNamed("key") && Self.hasKey(type): key = UUID(members.text(value))
            case 6 where isNamed("method"): method = members.text(value)
            case 6 where isNamed("reason"): reason = members.text(value)
            case 6 where isNamed("client"): clientStream = UUID(members.text(value))
            case 6 where isNamed("source"): source = members.text(value)
            case 6 where isNamed("device"): device = members.text(value)
            case 7 where isNamed("account"): account = UUID(members.text(value))
            case 7 where isNamed("browser"): browser = UUID(members.text(value))
            case 7 where isNamed("country"): country = members.text(value)
            case 9 where isNamed("client_id"): client = members.text(value)
            case 16 where isNamed("federated_device"):
                federatedDevice = UUID(members.text(value))
            default: break
            }
        case .list where isNamed("amr"):
            let names = members.bytes[value].split(separator: UInt8(ascii: "\""))
                .map { String(decoding: $0, as: UTF8.self) }
            isStrong = Self.areStrong(names)
        case .other where isNamed("asn"): asn = number(members.bytes[value])
        case .other where isNamed("expires_at"): expiresAt = number(members.bytes[value])
        case .list, .other: break
        }
    }

    private func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        guard digits.first != UInt8(ascii: "-") else {
            return PolicyPlace.number(digits.dropFirst()).map { -$0 }
        }
        return PolicyPlace.number(digits)
    }
}

extension FilterExpression {
    /// Whether it holds for a sign-in as `EventAttributes.ofAttempts` has it.
    func holds(for signIn: PolicyFact.SignIn, _ event: ScannedEvent) -> Bool {
        let open = event.open ?? [:]
        let attempt = signIn.attempt
        return holds { attribute in
            if case .field(let name) = attribute.source { return FilterValue.all(in: open[name]) }
            switch attribute.name {
            case "type": return [.text(event.name)]
            case "at": return [.time(event.at)]
            case "position": return [.integer(event.position)]
            case "stream", "session": return [.id(event.stream)]
            case "outcome": return [.text("signed_in")]
            case "actor": return event.actor.map { [.text($0)] } ?? []
            case "account": return [.id(attempt.account)]
            case "client": return attempt.client.map { [.text($0)] } ?? []
            case "source": return attempt.source.map { [.text($0)] } ?? []
            case "device": return attempt.device.map { [.text($0)] } ?? []
            default: return []
            }
        }
    }
}
