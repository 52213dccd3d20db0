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
    /// Multi-factor authentication: a second factor beside the first.
    case multiple = "mfa"

    /// A code of an authenticator app, or one that stands in for it: there is one name for all codes.
    static var timeCode: AuthenticationFactor { .mailedCode }
}

/// What a session was opened with.
@dynamicMemberLookup
public struct SessionTerms: Sendable, Equatable {
    public struct Members: Sendable, Equatable {
        /// The account of the session. Nil: the client's own.
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
        /// The absolute expiry time, which no refresh moves.
        public var expiresAt: Timestamp
        /// Whether the session has offline access: its tokens can be refreshed.
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
    internal private(set) var piece: SharedParts<Members>

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
        piece = SharedParts(members)
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
        self.init(
            Members(
                account: account, stamp: stamp, client: client, clientID: clientID, app: app,
                scope: scope, resources: resources, factors: factors, openedAt: openedAt,
                expiresAt: expiresAt, isOffline: isOffline, from: from, method: method, key: key))
    }

    init(_ members: Members) {
        piece = SharedParts(members)
    }
}

/// A failed sign-in of an account or of an unknown address.
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
    /// Number of summarised refusals; the other fields are those of the last one.
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
public enum SessionEvent: FormedEvent {
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

    /// There is one at each refresh: its fields are written and read at once, which takes less than four of a form.
    package struct Refresh: Sendable {
        var generation: Int
        var at: Timestamp
        var key: String?
        var parent: Int?
    }

    package enum Form {
        package static let opened = EventForm(
            "session.opened", .services, .signedIn(.client), "A client got tokens.", .terms,
            make: SessionEvent.opened)
        package static let refreshed = EventForm(
            "session.refreshed", .internal, .sessionRefreshed, "A refresh token was redeemed.",
            .refresh,
            make: {
                SessionEvent.refreshed(
                    generation: $0.generation, at: $0.at, key: $0.key, parent: $0.parent)
            })
        package static let ended = EventForm(
            "session.ended", .services, .sessionEnded(.client),
            "The session ended before its time.",
            .choice("reason", "Reason for which the session ended."), .optional(.order), .place,
            make: SessionEvent.ended)
        package static let detached = EventForm(
            "session.detached", .internal, .detail,
            "The browser that it came of signed out; offline access goes on.", .order,
            make: SessionEvent.detached)
        package static let refused = EventForm(
            "session.refused", .audit, .signInRefused, "A sign-in of a client was refused.",
            .refused, make: SessionEvent.refused)
    }

    public static let forms: EventForms<Self> = [
        Form.opened, Form.refreshed, Form.ended, Form.detached, Form.refused,
    ]

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

    public var written: WrittenEvent {
        switch self {
        case .opened(let terms): Form.opened(terms)
        case .refreshed(let generation, let at, let key, let parent):
            Form.refreshed(Refresh(generation: generation, at: at, key: key, parent: parent))
        case .ended(let reason, let notice, let from): Form.ended(reason, notice, from)
        case .detached(let notice): Form.detached(notice)
        case .refused(let attempt): Form.refused(attempt)
        }
    }
}

extension Field<SessionEvent.Refresh> {
    fileprivate static let refresh = whole(
        [
            .integer("generation", "Number of the next refresh token."),
            .time("refreshed_at", "Time at which the refresh token was redeemed."),
            .text("key", "Thumbprint of the key that the next token is bound to (RFC 9449).")
                .optional,
            .integer("parent", "Number of the redeemed token, if not the one before.").optional,
        ],
        write: {
            var fields: JSONObject = [
                "generation": .integer(Int64($0.generation)),
                "refreshed_at": .integer($0.at.seconds),
            ]
            fields["key"] = $0.key.map { .string($0) }
            fields["parent"] = $0.parent.map { .integer(Int64($0)) }
            return fields
        },
        read: { fields in
            guard let generation = fields["generation"]?.integer,
                let at = fields.instant("refreshed_at")
            else { return nil }
            return SessionEvent.Refresh(
                generation: Int(clamping: generation), at: at, key: fields["key"]?.string,
                parent: fields["parent"]?.integer.map { Int(clamping: $0) })
        })
}

extension Field<NoticeOrder> {
    fileprivate static let order = record(
        .uuid("notice", "Logout notice that tells the client."),
        .optional(.text("issuer", "Issuer identifier that the notice names.")),
        make: { NoticeOrder(id: $0, issuer: $1) }, take: { ($0.id, $0.issuer) })
}

extension SessionTerms {
    /// When its person signed in: before it was opened, where that was in a browser.
    public var signedInAt: Timestamp { self.authenticatedAt ?? self.openedAt }

    /// The same as clients are told: nil where an issuer's assertion replaced a sign-in here.
    public var toldSignIn: Timestamp? { self.method == .jwtBearer ? nil : signedInAt }

    /// Reads what the log or a read model holds.
    public init?(recorded fields: JSONObject) {
        guard let terms = try? Field<Self>.terms.read(fields) else { return nil }
        self = terms
    }
}
