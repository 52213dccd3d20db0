public import JSON
public import Values

/// What is known about a client, under its RFC 7591 names on the wire.
///
/// Made from a request, it has passed every rule. Read from the log, it is taken as it stands:
/// what was accepted once is not refused by a rule that came later.
@dynamicMemberLookup
public struct ClientMetadata: Sendable, Equatable {
    public struct Members: Sendable, Equatable {
        public internal(set) var clientName: String?
        public internal(set) var redirectURIs: [String] = []
        public internal(set) var grantTypes: [GrantType] = []
        public internal(set) var responseTypes: [ResponseType] = []
        public internal(set) var authenticationMethod = AuthenticationMethod.secretBasic
        public internal(set) var applicationType = ApplicationType.web
        public internal(set) var scope: [String] = []
        /// Personal: people, mostly by mail address.
        public internal(set) var contacts: [String] = []
        public internal(set) var clientURI: String?
        public internal(set) var logoURI: String?
        public internal(set) var policyURI: String?
        public internal(set) var tosURI: String?
        public internal(set) var jwks: JSON?
        public internal(set) var jwksURI: String?
        public internal(set) var softwareID: String?
        public internal(set) var softwareVersion: String?
        /// What its maker says of it, as the client sent it (RFC 7591 section 2.3).
        public internal(set) var softwareStatement: String?
        /// It came by a statement: it is not changed without one, also where that was erased.
        public internal(set) var isVouchedFor = false
        /// Seconds; nil where the app's or the realm's setting holds.
        public internal(set) var accessTokenLifetime: Int64?
        public internal(set) var refreshTokenLifetime: Int64?
        /// The domain that passkeys belong to in this client, where it is not the app's or the realm's.
        public internal(set) var passkeyDomain: String?
        public internal(set) var accessTokenFormat = TokenFormat.reference
        /// Of access tokens that are signed.
        public internal(set) var accessTokenSignature = TokenSignature.rs256
        public internal(set) var idTokenSignature = TokenSignature.rs256
        /// The resources (RFC 8707) that this client speaks for: of tokens for them it may ask.
        public internal(set) var audiences: [String] = []
        /// Where its tokens may be good (RFC 8707), if it was said: see `mayAsk(for:_:)`.
        public internal(set) var resources: [String] = []
        /// Unless set, its tokens are good nowhere but here.
        public internal(set) var needsListedResources = false
        /// Whether it may ask of every token of the realm.
        public internal(set) var introspectsAllTokens = false
        /// Whether the client signs users in elsewhere and is trusted to forward their addresses.
        public internal(set) var forwardsAddresses = false
        public internal(set) var consent = ConsentPolicy.needed
        public internal(set) var profile = ClientProfile.standard
        public internal(set) var loginLocation = LoginLocation.full
        public internal(set) var subjectType = SubjectType.public
        /// Its host is the sector; without one it is the host of the redirect URIs.
        public internal(set) var sectorURI: String?
        /// Of what user info is signed with, if it is.
        public internal(set) var userInfoSignature: String?
        /// What answers about tokens are signed with, where it asks for signed ones.
        public internal(set) var introspectionSignature: String?
        /// What its request objects are signed with, where it said so.
        public internal(set) var requestSignature: String?
        /// Where its logins can be begun from elsewhere (OpenID Connect Core section 4).
        public internal(set) var initiateLoginURI: String?
        /// Seconds that its people may be signed in for, where a request says nothing of it.
        public internal(set) var maximumAge: Int64?
        /// How strong sign-ins should be, where a request says nothing of it.
        public internal(set) var levels: [String] = []
        public internal(set) var needsPushedRequests = false
        public internal(set) var needsSignedRequests = false
        public internal(set) var logoutRedirectURIs: [String] = []
        /// The URI that is notified, server to server, of a log-out.
        public internal(set) var logoutURI: String?
        public internal(set) var needsLogoutSession = false
        /// Whether its assertions may name the token endpoint instead of the issuer.
        public internal(set) var assertsForTokenURL = false
        /// Whether its tokens are bound to a key (RFC 9449 section 5.2).
        public internal(set) var bindsTokens = false
        /// What it may exchange people's tokens for.
        public internal(set) var exchange = ExchangeRule.none
        /// Where the tokens may be good that it exchanges others for.
        public internal(set) var exchangeTargets: [String] = []
        /// The clients, by name, that may exchange tokens of this one wherever those are good.
        public internal(set) var mayAct: [String] = []
        /// Of an installation: what it runs on, and where it hears of notifications.
        public internal(set) var clientKind: String?
        public internal(set) var clientOS: String?
        public internal(set) var notificationPlatform: String?
        /// Personal: it names one device of one person.
        public internal(set) var notificationToken: String?
        /// What it says of its notifications, by category.
        public internal(set) var notifications: JSON?
        /// The app that this client belongs to.
        public internal(set) var appID: UUID?
        /// Of a service of the federation profile: its token endpoint, where that is not here.
        public internal(set) var federationEndpoint: String?
        /// What the service is told of people.
        public internal(set) var federationAttributes: [String] = []
        public internal(set) var assertionSignature = AssertionSignature.hs256
        public internal(set) var assertionEncryption = AssertionEncryption.none
        /// What it offers (RSD2), as it was said here or found where it publishes it.
        public internal(set) var serviceDescription: JSON?
        /// The host of the services.txt in which the service publishes its offers.
        public internal(set) var serviceHost: String?
    }

    /// Requests hand on a client again and again, and it has many members.
    @usableFromInline
    internal private(set) var piece: SharedParts<Members>

    private init(of members: Members) {
        piece = SharedParts(members)
    }

    @inlinable
    public subscript<Value>(dynamicMember path: KeyPath<Members, Value>) -> Value {
        piece.parts[keyPath: path]
    }

    subscript<Value>(dynamicMember path: WritableKeyPath<Members, Value>) -> Value {
        get { piece.parts[keyPath: path] }
        set {
            var members = piece.parts
            members[keyPath: path] = newValue
            piece = SharedParts(members)
        }
    }

    public static func == (left: ClientMetadata, right: ClientMetadata) -> Bool {
        left.piece === right.piece || left.piece.parts == right.piece.parts
    }

    /// Reads a request: unknown names, wrong types and broken rules are faults, in this order.
    /// Null counts as left out (RFC 7591 section 2), and what is left out gets its default.
    public init(_ members: JSONObject) throws(FieldFault) {
        let given = members.filter { !$0.value.isNull }
        for (name, value) in given.sorted(by: { $0.key < $1.key }) {
            guard MetadataField.find(name) != nil else { throw FieldFault(name, .unknown) }
            if let fault = DisclosedKey.fault(in: name, value) { throw fault }
        }
        var read = Members()
        let profile = given["profile"]?.string.flatMap(ClientProfile.init(rawValue:))
        read.grantTypes = (profile ?? .standard).usualGrants
        for field in MetadataField.all {
            guard let value = given[field.name] else { continue }
            try field.set(&read, value)
        }
        if given["response_types"] == nil {
            read.responseTypes = read.grantTypes.contains(.authorizationCode) ? [.code] : []
        }
        for field in MetadataField.all { try field.check(read) }
        self.init(of: read)
        try MetadataRules.check(self)
    }

    /// Reads what the log or a read model holds; nil where it has a shape that was never written.
    public init?(recorded fields: JSONObject) {
        var read = Members()
        for field in MetadataField.all {
            guard let value = fields[field.name] else { continue }
            do {
                try field.set(&read, value)
            } catch {
                return nil
            }
        }
        if fields["vouched_for"]?.bool == true { read.isVouchedFor = true }
        self.init(of: read)
    }

    /// The client's identity is unverified: so it is with a client that registered itself, until an
    /// administrator of the realm says otherwise.
    public var isUnchecked: Bool { self.needsListedResources }

    /// The metadata under its wire names; what is unset is left out.
    public var members: JSONObject {
        var members: JSONObject = [:]
        for field in MetadataField.all { members[field.name] = value(of: field) }
        return members
    }

    func value(of field: MetadataField) -> JSON? { field.get(piece.parts) }

    /// As the log holds it.
    var recorded: JSONObject {
        var fields = members
        if self.isVouchedFor { fields["vouched_for"] = true }
        return fields
    }

    /// How a request says that the client will show who it is, so that a secret can be made for it
    /// before the command is. Nil where it says nothing that Urd knows.
    public static func authenticationMethod(
        askedFor members: JSONObject
    ) -> AuthenticationMethod? {
        switch members["token_endpoint_auth_method"] {
        case nil, .null: .secretBasic
        case let method?: method.string.flatMap(AuthenticationMethod.init(rawValue:))
        }
    }

    /// Whether a request asks for a profile whose clients sign messages by their secret.
    public static func hasSharedKey(askedFor members: JSONObject) -> Bool {
        let profile = members["profile"]?.string.flatMap(ClientProfile.init(rawValue:))
        return profile?.rules.hasSharedKey == true
    }

    /// The app that a request names, for the commands that must look at it.
    static func appID(askedFor members: JSONObject) -> UUID? {
        members["app_id"]?.string.flatMap { UUID($0) }
    }

    /// A request's metadata as JSON Schema.
    public static var schema: JSON {
        let properties = MetadataField.all.map { field in
            var schema = field.schema
            schema["description"] = .string(field.about)
            return (field.name, JSON.object(schema))
        }
        return [
            "type": "object", "additionalProperties": false,
            "properties": .object(JSONObject(properties)),
        ]
    }
}
