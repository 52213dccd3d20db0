public import EventSourcing
public import JSON
public import Values

/// How a person authenticated (RFC 8176 names).
public enum AuthenticationFactor: String, CaseIterable, Sendable {
    case mailedCode = "otp"
    case mailedLink = "mail"
    case passkey = "hwk"
    case passphrase = "pwd"
    /// A few digits, which a tenant's app asks for.
    case pin = "pin"
    /// A key that a tenant's app keeps on a device.
    case deviceKey = "swk"
    /// The same, which the device lets be used by whom it knows. It is the app that says so: no proof of two
    /// factors.
    case biometric = "bio"
    /// An OpenID provider said so.
    case provider = "fed"
    /// One more than the first.
    case multiple = "mfa"

    /// A code of an authenticator app, or one that stands in for it: there is one name for all codes.
    static var timeCode: AuthenticationFactor { .mailedCode }
}

/// What a session was opened with.
@dynamicMemberLookup
public struct SessionTerms: Sendable, Equatable {
    public struct Members: Sendable, Equatable {
        /// Whose it is. Nil: the client's own.
        public var account: UUID?
        /// The account's stamp at that time.
        public var stamp: SecurityStamp
        /// The client's stream and its name.
        public var client: UUID
        public var clientID: String
        public var app: UUID?
        public var scope: [String]
        /// Where its tokens are good (RFC 8707); empty: nowhere in particular.
        public var resources: [String]
        public var factors: [AuthenticationFactor]
        public var openedAt: Timestamp
        /// However often it is refreshed.
        public var expiresAt: Timestamp
        /// Whether it can be refreshed.
        public var isOffline: Bool
        public var from: SignInPlace
        /// The grant that opened it.
        public var method: GrantType?
        /// What stands on record in its place, if anything.
        public var appMethod: AppSignInMethod?
        /// The thumbprint of the key that its refresh tokens are bound to (RFC 9449).
        public var key: String?
        /// What it was exchanged from, if it was.
        public var exchange: TokenExchange?
        /// When its person signed in, where that was before it was opened.
        public var authenticatedAt: Timestamp?
        /// The browser session that it came of.
        public var browser: UUID?
        /// The sector that its tokens speak to with a sub of its own.
        public var sector: String?
        /// What user info says beside what the scope allows.
        public var claims: [String] = []
        /// What names the realm in its tokens, and to its client when it ends: a request that
        /// refreshes it at another host, or ends it from elsewhere, does not know the host that it
        /// was opened at.
        public var issuer: String?
        /// The issuer whose assertion opened it, without a sign-in (RFC 7523): it goes on while the
        /// issuer is trusted.
        public var assertionIssuer: String?
        /// The web app or konnector that its tokens are for, which an installation opened.
        public var webApp: UUID?
        /// Where it stands in the tree of a device of the federation profile.
        public var federation: FederatedToken?
        /// What the browser that it came of was opened by, where its person had proved nothing there.
        public var opener: Opener?
    }

    /// They are handed on with every token.
    @usableFromInline
    internal private(set) var piece: Piece<Members>

    @inlinable
    public subscript<Value>(dynamicMember path: KeyPath<Members, Value>) -> Value {
        piece.parts[keyPath: path]
    }

    public subscript<Value>(dynamicMember path: WritableKeyPath<Members, Value>) -> Value {
        get { piece.parts[keyPath: path] }
        set { change { $0[keyPath: path] = newValue } }
    }

    /// Several members at a time.
    mutating func change(_ amend: (inout Members) -> Void) {
        var members = piece.parts
        amend(&members)
        piece = Piece(members)
    }

    public static func == (left: SessionTerms, right: SessionTerms) -> Bool {
        left.piece === right.piece || left.piece.parts == right.piece.parts
    }

    public init(
        account: UUID?, stamp: SecurityStamp, client: UUID, clientID: String, app: UUID?,
        scope: [String], resources: [String], factors: [AuthenticationFactor], openedAt: Timestamp,
        expiresAt: Timestamp, isOffline: Bool, from: SignInPlace = SignInPlace(),
        method: GrantType? = nil, key: String? = nil
    ) {
        piece = Piece(
            Members(
                account: account, stamp: stamp, client: client, clientID: clientID, app: app,
                scope: scope, resources: resources, factors: factors, openedAt: openedAt,
                expiresAt: expiresAt, isOffline: isOffline, from: from, method: method, key: key))
    }
}

/// A failed sign-in.
public struct RefusedSignIn: Sendable, Equatable {
    public var method: GrantType
    /// What stands on record in its place, if anything.
    public var appMethod: AppSignInMethod?
    /// For programs, in words of our own.
    public var reason: String
    /// Whose account it would have been, where that is known.
    public var account: UUID?
    public var client: UUID
    public var clientID: String
    public var app: UUID?
    public var from: SignInPlace
    /// How many times, where several were summed up; the rest is of the last one.
    public var count: Int

    public init(
        method: GrantType, reason: String, account: UUID?, client: UUID, clientID: String,
        app: UUID?, from: SignInPlace, count: Int = 1
    ) {
        self.count = count
        self.method = method
        self.reason = reason
        self.account = account
        self.client = client
        self.clientID = clientID
        self.app = app
        self.from = from
    }
}

/// What happens to a session: one sign-in of one client, with all tokens that come of it.
public enum SessionEvent: Event {
    case opened(SessionTerms)
    /// A refresh token was redeemed: the next one has this number, and from now on is bound to this key.
    /// The parent is the token that was redeemed: nil for the one before, which it is unless a parent
    /// was repeated late and its first successor is void.
    case refreshed(generation: Int, at: Timestamp, key: String? = nil, parent: Int? = nil)
    /// Its client is told by this notice, if it wants to hear of it. Where from what was shown again came.
    case ended(SessionEnd, notice: NoticeOrder? = nil, from: SignInPlace = SignInPlace())
    /// The browser that it came of signed out, and it goes on: its client is told by this notice.
    case detached(NoticeOrder)
    /// An attempt that opened none: it has the name that the session would have had.
    case refused(RefusedSignIn)

    public static let catalogue: [EventShape] = [
        EventShape(
            "session.opened", .services, "A client got tokens.", SessionTerms.eventFields,
            SignInPlace.openedFields),
        EventShape(
            "session.refreshed", .internal, "A refresh token was redeemed.",
            [
                .integer("generation", "Number of the next refresh token."),
                .time("refreshed_at", "When it was redeemed."),
                .text("key", "Thumbprint of the key that the next token is bound to (RFC 9449).")
                    .optional,
                .integer("parent", "Number of the redeemed token, if not the one before.").optional,
            ]),
        EventShape(
            "session.ended", .services, "The session ended before its time.",
            [
                .choice("reason", SessionEnd.self, "Why it ended."),
                .uuid("notice", "Logout notice that tells the client.").optional,
                .text("issuer", "Issuer identifier that the notice names.").optional,
            ], SignInPlace.eventFields),
        EventShape(
            "session.detached", .internal,
            "The browser that it came of signed out; offline access goes on.",
            [
                .uuid("notice", "Logout notice that tells the client."),
                .text("issuer", "Issuer identifier that the notice names.").optional,
            ]),
        EventShape(
            "session.refused", .audit, "A sign-in of a client was refused.",
            [
                SessionTerms.method("Grant that was refused, or way within a tenant's app."),
                .text("reason", "Why it was refused."),
                .account.optional, .client, .clientID, .app,
                .integer("count", "How many refusals it stands for, if several.").optional,
            ], SignInPlace.openedFields),
    ]

    public var name: String {
        switch self {
        case .opened: "session.opened"
        case .refreshed: "session.refreshed"
        case .ended: "session.ended"
        case .detached: "session.detached"
        case .refused: "session.refused"
        }
    }

    public var subject: UUID? {
        switch self {
        case .opened(let terms): terms.account
        case .refused(let attempt): attempt.account
        case .refreshed, .ended, .detached: nil
        }
    }

    /// To look for its person's key at each refresh would cost more than the refresh.
    public var tellsOrigin: Bool {
        if case .refreshed = self { false } else { true }
    }

    public var fields: JSONObject {
        switch self {
        case .opened(let terms): return terms.fields
        case .refreshed(let generation, let at, let key, let parent):
            var fields: JSONObject = [
                "generation": .integer(Int64(generation)), "refreshed_at": .integer(at.seconds),
            ]
            fields["key"] = key.map { .string($0) }
            fields["parent"] = parent.map { .integer(Int64($0)) }
            return fields
        case .ended(let reason, let notice, let from):
            var fields = from.fields
            fields["reason"] = .string(reason.rawValue)
            fields["notice"] = notice.map { .uuid($0.id) }
            fields["issuer"] = notice?.issuer.map { .string($0) }
            return fields
        case .detached(let notice):
            var fields: JSONObject = ["notice": .uuid(notice.id)]
            fields["issuer"] = notice.issuer.map { .string($0) }
            return fields
        case .refused(let refused): return refused.fields
        }
    }

    public init?(name: String, fields: JSONObject) {
        switch name {
        case "session.opened":
            guard let terms = SessionTerms(recorded: fields) else { return nil }
            self = .opened(terms)
        case "session.refreshed":
            guard let generation = fields["generation"]?.integer,
                let at = fields.instant("refreshed_at")
            else { return nil }
            self = .refreshed(
                generation: Int(clamping: generation), at: at, key: fields["key"]?.string,
                parent: fields["parent"]?.integer.map { Int(clamping: $0) })
        case "session.ended":
            guard let reason: SessionEnd = fields.choice("reason") else { return nil }
            var notice: NoticeOrder?
            if let id = fields.uuid("notice") {
                notice = NoticeOrder(id: id, issuer: fields["issuer"]?.string)
            }
            self = .ended(reason, notice: notice, from: SignInPlace(recorded: fields))
        case "session.detached":
            guard let id = fields.uuid("notice") else { return nil }
            self = .detached(NoticeOrder(id: id, issuer: fields["issuer"]?.string))
        case "session.refused":
            guard let refused = RefusedSignIn(recorded: fields) else { return nil }
            self = .refused(refused)
        default: return nil
        }
    }
}

extension SessionTerms.Members {
    var fields: JSONObject {
        var fields: JSONObject = [
            "client": .uuid(client),
            "client_id": .string(clientID), "scope": .texts(scope),
            "resources": .texts(resources), "amr": .texts(factors.map(\.rawValue)),
            "opened_at": .integer(openedAt.seconds), "expires_at": .integer(expiresAt.seconds),
            "offline": .bool(isOffline),
        ]
        fields.setStamp(stamp)
        fields["account"] = account.map { .uuid($0) }
        fields["app"] = app.map { .uuid($0) }
        fields["method"] = (appMethod?.rawValue ?? method?.rawValue).map { .string($0) }
        fields["key"] = key.map { .string($0) }
        fields.merge(exchange?.fields ?? [:]) { own, _ in own }
        fields["auth_time"] = authenticatedAt.map { .integer($0.seconds) }
        fields["browser"] = browser.map { .uuid($0) }
        fields["sector"] = sector.map { .string($0) }
        if !claims.isEmpty { fields["claims"] = .texts(claims) }
        fields["issuer"] = issuer.map { .string($0) }
        fields["assertion_issuer"] = assertionIssuer.map { .string($0) }
        fields["web_app"] = webApp.map { .uuid($0) }
        if let federation { fields.merge(federation.fields) { own, _ in own } }
        if let opener { fields.merge(opener.fields) { own, _ in own } }
        return fields.merging(from.fields) { own, _ in own }
    }
}

extension SessionTerms {
    /// When its person signed in: before it was opened, where that was in a browser.
    public var signedInAt: Timestamp { self.authenticatedAt ?? self.openedAt }

    /// The same as clients are told: nil where an issuer's assertion replaced a sign-in here.
    public var toldSignIn: Timestamp? { self.method == .jwtBearer ? nil : signedInAt }

    /// Reads what the log or a read model holds.
    public init?(recorded fields: JSONObject) {
        guard let stamp = fields.stamp, let client = fields.uuid("client"),
            let clientID = fields["client_id"]?.string, let scope = fields.texts("scope"),
            let resources = fields.texts("resources"), let factors = fields.texts("amr"),
            let openedAt = fields.instant("opened_at"),
            let expiresAt = fields.instant("expires_at"), let isOffline = fields["offline"]?.bool
        else { return nil }
        self.init(
            account: fields.uuid("account"), stamp: stamp, client: client,
            clientID: clientID, app: fields.uuid("app"), scope: scope, resources: resources,
            factors: factors.compactMap(AuthenticationFactor.init), openedAt: openedAt,
            expiresAt: expiresAt, isOffline: isOffline, from: SignInPlace(recorded: fields),
            method: GrantType(recorded: fields), key: fields["key"]?.string)
        change { terms in
            terms.appMethod = fields.choice("method")
            terms.exchange = TokenExchange(recorded: fields)
            terms.authenticatedAt = fields.instant("auth_time")
            terms.browser = fields.uuid("browser")
            terms.sector = fields["sector"]?.string
            terms.claims = fields.texts("claims") ?? []
            terms.issuer = fields["issuer"]?.string
            terms.assertionIssuer = fields["assertion_issuer"]?.string
            terms.webApp = fields.uuid("web_app")
            terms.federation = FederatedToken(recorded: fields)
            terms.opener = Opener(recorded: fields)
        }
    }
}

extension GrantType {
    /// Where another way stands on record in its place, it is the one of that way.
    fileprivate init?(recorded fields: JSONObject) {
        let other: AppSignInMethod? = fields.choice("method")
        guard let method = fields.choice("method") ?? other?.grant
        else { return nil }
        self = method
    }
}

extension RefusedSignIn {
    var fields: JSONObject {
        var fields = from.fields
        fields["method"] = .string(appMethod?.rawValue ?? method.rawValue)
        fields["reason"] = .string(reason)
        fields["account"] = account.map { .uuid($0) }
        fields["client"] = .uuid(client)
        fields["client_id"] = .string(clientID)
        fields["app"] = app.map { .uuid($0) }
        if count > 1 { fields["count"] = .integer(Int64(count)) }
        return fields
    }

    init?(recorded fields: JSONObject) {
        guard let method = GrantType(recorded: fields), let reason = fields["reason"]?.string,
            let client = fields.uuid("client"),
            let clientID = fields["client_id"]?.string
        else { return nil }
        self.init(
            method: method, reason: reason, account: fields.uuid("account"), client: client,
            clientID: clientID, app: fields.uuid("app"), from: SignInPlace(recorded: fields),
            count: Int(clamping: fields["count"]?.integer ?? 1))
        appMethod = fields.choice("method")
    }
}

extension SignInPlace {
    var fields: JSONObject {
        var fields: JSONObject = [:]
        fields["source"] = source.map { .string($0) }
        fields["device"] = device.map { .string($0) }
        fields["channel"] = channel.map { .string($0.rawValue) }
        if let location { fields.merge(location.fields) { own, _ in own } }
        return fields
    }

    init(recorded fields: JSONObject) {
        self.init(
            source: fields["source"]?.string, device: fields["device"]?.string,
            channel: fields.choice("channel"), location: GeoLocation(recorded: fields))
    }
}
