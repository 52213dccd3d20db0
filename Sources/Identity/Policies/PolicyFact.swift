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
    public static let types: [String] = readers.keys.sorted()
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
    private typealias Reader = @Sendable (ScannedEvent) throws(LogFailure) -> PolicyFact?

    private static let readers: [String: Reader] = EventCatalogue.meanings
        .compactMapValues(reader)

    init?(_ event: ScannedEvent) throws(LogFailure) {
        guard let reader = Self.readers[event.name], let fact = try reader(event) else {
            return nil
        }
        self = fact
    }

    /// How an event with this meaning is read; nil where it says nothing to a policy.
    private static func reader(of meaning: EventMeaning) -> Reader? {
        switch meaning {
        case .signedIn(let place):
            { event throws(LogFailure) in signIn(event, try fields(event), place) }
        case .signInRefused: wrongTry
        case .sessionEnded: { .ended(session: $0.stream) }
        case .sessionRefreshed: { .refreshed(session: $0.stream) }
        case .registered: { .registered(account: $0.stream) }
        case .accountDeleted, .deletionScheduled, .accountDisabled, .mailboxChanged, .stampRotated:
            { .allEnded(account: $0.stream) }
        case .accessRemoved: accessRemoved
        case .rolesChanged: roles
        case .factorAdded:
            { event throws(LogFailure) in
                let (factor, account) = try factor(event)
                return .factorAdded(factor, account: account)
            }
        case .factorRemoved:
            { event throws(LogFailure) in
                let (factor, account) = try factor(event)
                return .factorRemoved(factor, account: account)
            }
        case .detail, .administratorRefused, .step, .secondFactorAsked, .codeMailed, .linkMailed,
            .secretSet, .secretRemoved, .secretRefused, .secretUsed, .recoveryCodesRenewed,
            .passkeyRefused, .passkeyRenamed, .mailedCodesChanged, .accountEnabled,
            .deletionCancelled, .accountErased, .ownerAppointed, .consentGiven, .consentWithdrawn,
            .personChanged, .mailboxMoved, .recoveryChanged, .recoveryRequested, .accountChanged,
            .deviceAdded, .deviceRemoved, .deviceCertified, .certificationRevoked, .administration,
            .realmSettingsChanged, .disclosed, .caseFileIssued, .findingRaised, .findingEscalated,
            .findingClosed, .findingRulesSet, .object:
            nil
        }
    }

    private static func fields(_ event: ScannedEvent) throws(LogFailure) -> SignInFields {
        guard let fields = SignInFields(event) else { throw .damaged }
        return fields
    }

    private static func wrongTry(_ event: ScannedEvent) throws(LogFailure) -> PolicyFact? {
        let fields = try fields(event)
        guard let account = fields.account, FindingFact.isGuess(fields.reason, fields.method)
        else { return nil }
        return .wrongTry(account)
    }

    private static func accessRemoved(_ event: ScannedEvent) throws(LogFailure) -> PolicyFact? {
        guard let fields = event.open, let place = try? Field<AccessPlace>.place.read(fields)
        else { throw .damaged }
        return .accessRemoved(place.stream, account: event.stream)
    }

    private static func roles(_ event: ScannedEvent) throws(LogFailure) -> PolicyFact? {
        guard let roles = GivenRoles(event.open?["roles"]) else { throw .damaged }
        return .roles(Set(roles.byAudience.values.flatMap(\.self)).sorted(), account: event.stream)
    }

    private static func factor(
        _ event: ScannedEvent
    ) throws(LogFailure) -> (factor: UUID, account: UUID) {
        let fields = try fields(event)
        guard let account = fields.account else { throw .damaged }
        return (fields.key ?? event.stream, account)
    }

    /// A sign-in is what the login history has as one that went well.
    private static func signIn(
        _ event: ScannedEvent, _ fields: SignInFields, _ place: SessionPlace
    ) -> PolicyFact? {
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
                isPage: place == .browser,
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
