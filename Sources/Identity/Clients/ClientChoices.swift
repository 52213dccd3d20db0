/// How a client may come by tokens.
public enum GrantType: String, CaseIterable, Sendable {
    case authorizationCode = "authorization_code"
    case refreshToken = "refresh_token"
    case clientCredentials = "client_credentials"
    case deviceCode = "urn:ietf:params:oauth:grant-type:device_code"
    case jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    case tokenExchange = "urn:ietf:params:oauth:grant-type:token-exchange"
    case nativeOTP = "urn:cocoar:otp"
    case nativeMagicLink = "urn:cocoar:magic"
    case nativePasskey = "urn:cocoar:passkey"
    /// On devices of the federation profile alone.
    case password
    /// Of installations alone, regardless of their credentials: see `Installation`.
    case flagship = "urn:urd:flagship"

    /// Whether its tokens speak for a person. A client that acts for itself must not do both, or
    /// one kind of token could be taken for the other.
    public var isForUsers: Bool {
        switch self {
        case .authorizationCode, .refreshToken, .deviceCode, .nativeOTP, .nativeMagicLink,
            .nativePasskey, .jwtBearer, .tokenExchange, .password, .flagship:
            true
        case .clientCredentials: false
        }
    }
}

/// What the authorization endpoint may answer with.
public enum ResponseType: String, CaseIterable, Sendable {
    case code
}

/// How a client shows at the token endpoint that it is itself.
public enum AuthenticationMethod: String, CaseIterable, Sendable {
    /// It cannot: a public client.
    case none
    case secretBasic = "client_secret_basic"
    case secretPost = "client_secret_post"
    case privateKeyJWT = "private_key_jwt"
    /// By a certificate of its own in TLS, which a proxy in front tells (RFC 8705).
    case selfSignedTLS = "self_signed_tls_client_auth"

    public var usesSecret: Bool {
        switch self {
        case .secretBasic, .secretPost: true
        case .none, .privateKeyJWT, .selfSignedTLS: false
        }
    }
}

/// What a client may exchange people's tokens for (RFC 8693).
public enum ExchangeRule: String, CaseIterable, Sendable {
    /// No token exchange.
    case none
    /// For tokens that say that it acts for the person.
    case delegation
    /// For tokens that say nothing of it, as if the person called.
    case impersonation
}

/// What a client's access tokens look like.
public enum TokenFormat: String, CaseIterable, Sendable {
    /// Opaque tokens: a resource server introspects them here, and a revoked one is dead at once.
    case reference
    /// Resource servers read them without asking (RFC 9068), and so hear of no revocation.
    case jwt
}

/// What a token is signed with.
public enum TokenSignature: String, CaseIterable, Sendable {
    case rs256 = "RS256"
    case es256 = "ES256"
}

/// Where a client runs.
public enum ApplicationType: String, CaseIterable, Sendable {
    case web
    case native
}

/// Whether people are asked before a client learns of them.
public enum ConsentPolicy: String, CaseIterable, Sendable {
    /// The user is asked once for each scope.
    case needed
    /// Never: the client is the realm's own.
    case none
}

/// The letter of the protocol that a client was written to.
public enum ClientProfile: String, CaseIterable, Sendable {
    case standard
    /// The mobile login with a resource server that sends people to the login page. See
    /// decision 0021.
    case voo
    /// A tenant that has addresses proved on a page of the realm. See decision 0133.
    case verify
    /// A version of the app of the federation profile, which its devices show the key of. See decision 0134.
    case federationApp = "federation_app"
    /// A service that takes assertions of the federation profile.
    case federationService = "federation_service"
}

/// What assertions for a service are signed with.
public enum AssertionSignature: String, CaseIterable, Sendable {
    /// By the service's own key: its secret.
    case hs256 = "HS256"
    /// By a key of the realm.
    case rs256 = "RS256"
    case es256 = "ES256"
}

/// What assertions for a service are encrypted with, to a key of its `jwks`.
public enum AssertionEncryption: String, CaseIterable, Sendable {
    case none
    case rsaOAEP256 = "RSA-OAEP-256"
    case ecdhES = "ECDH-ES"
}

/// How a resource server's 401 names the login page to a client of the voo profile.
public enum LoginLocation: String, CaseIterable, Sendable {
    /// With all parameters.
    case full
    /// Without any: the app appends its own.
    case bare
}

/// Whether all clients are told the same of a person's account, or each sector something of its own.
public enum SubjectType: String, CaseIterable, Sendable {
    case `public`
    case pairwise
}
