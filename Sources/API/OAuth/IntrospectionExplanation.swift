public import EventSourcing
internal import Identity
internal import JOSE
internal import ReadModels
internal import Values

/// Why one client hears of a token that it is active, or that it isn't. For who runs the server: a client is told
/// nothing but `active` (RFC 7662 section 2.2).
public struct IntrospectionExplanation: Sendable, Equatable {
    public let isActive: Bool
    /// The reason as a sentence without its full stop.
    public let reason: String
    /// What to do, where the client should hear of the token.
    public let remedy: String

    static func active(_ reason: String) -> IntrospectionExplanation {
        IntrospectionExplanation(isActive: true, reason: reason, remedy: "")
    }

    static func inactive(_ reason: String, _ remedy: String) -> IntrospectionExplanation {
        IntrospectionExplanation(isActive: false, reason: reason, remedy: remedy)
    }
}

extension RealmContexts {
    /// Looks at the token as the introspection endpoint would.
    public func explainIntrospection(
        of text: String, by clientID: String, in realm: RealmID
    ) async throws(LogFailure) -> IntrospectionExplanation {
        guard let context = try await context(in: realm) else {
            return .inactive("there is no realm \(realm)", "urd realm list names them.")
        }
        do throws(Problem) {
            return try await context.explainIntrospection(of: text, by: clientID)
        } catch {
            throw .unavailable
        }
    }

    private func context(in realm: RealmID) async throws(LogFailure) -> RealmContext? {
        guard let ground = try await places.ground(of: realm) else { return nil }
        return RealmContext(
            place: Place(ground: ground, address: "", certificate: nil),
            mint: try await mint(realm), shared: shared)
    }
}

extension RealmContext {
    fileprivate func explainIntrospection(
        of text: String, by clientID: String
    ) async throws(Problem) -> IntrospectionExplanation {
        let client = try await reading { () throws(LogFailure) in
            try await clients.fresh(clientID, in: place.realm)
        }
        guard let client, !client.isDisabled else {
            return .inactive(
                "\(clientID) is no client, or is disabled", "urd client list names the clients.")
        }
        guard client.metadata.authenticationMethod != .none else {
            return .inactive(
                "\(clientID) is a public client, and those may not ask",
                "Register the API as a client of its own, with a secret or a key.")
        }
        if let token = mint.readRefreshToken(text) {
            return try await explain(token, to: client, clientID)
        }
        guard try await mayHaveGiven(text) else { return .unknown(in: place.realm) }
        guard let token = try await present(text) else { return try await explainDead(text) }
        return explain(token, to: client, clientID)
    }

    private func explain(
        _ token: PresentedToken, to client: KnownClient, _ clientID: String
    ) -> IntrospectionExplanation {
        let holder = token.session.terms.clientID
        let about = "an access token of \(holder), good until \(token.expiresAt)"
        if token.isTold(to: client.id, clientID, client.metadata) { return .active(about) }
        let audience = token.audience.isEmpty ? "none" : token.audience.joined(separator: ", ")
        let spoken = client.metadata.audiences.joined(separator: ", ")
        return .inactive(
            "\(about), which \(clientID) may not hear of: its audiences are \(audience), and "
                + (spoken.isEmpty
                    ? "the client speaks for none" : "the client speaks for \(spoken)"),
            token.audience.isEmpty
                ? "Have \(holder) ask for its tokens with `resource`, and give \(clientID) that resource "
                    + "(--audiences); or let it ask about every token (--introspects-all-tokens)."
                : "Give \(clientID) one of the token's audiences (--audiences), or let it ask about "
                    + "every token (--introspects-all-tokens).")
    }

    private func explain(
        _ token: TokenMint.RefreshToken, to client: KnownClient, _ clientID: String
    ) async throws(Problem) -> IntrospectionExplanation {
        guard let session = try await live(token.session) else { return .overWithItsSession }
        guard session.terms.client == client.id else {
            return .inactive(
                "a refresh token of \(session.terms.clientID): only that client may ask about it",
                "Ask about the access token.")
        }
        guard session.generation == token.generation else {
            return .inactive(
                "a refresh token that another has taken the place of", "Use the newest one.")
        }
        return .active("a refresh token of \(clientID)")
    }

    /// To look for the keys of a realm that has none would make some, and an explanation changes
    /// nothing.
    private func mayHaveGiven(_ text: String) async throws(Problem) -> Bool {
        guard text.utf8.contains(UInt8(ascii: ".")) else { return true }
        return try await !reading { () throws(LogFailure) in
            try await commands.events.stream(SigningKeys.stream, after: 0, in: place.realm)
        }.isEmpty
    }

    /// What is no good token here: it was one once, or never.
    private func explainDead(_ text: String) async throws(Problem) -> IntrospectionExplanation {
        let now = clock.now()
        var end = mint.readAccessToken(text)?.expiresAt
        if end == nil, text.utf8.contains(UInt8(ascii: ".")) {
            end = try await reading { () throws(LogFailure) in
                try await keys.verify(text, of: place.realm, at: nil)
            }?.expiresAt
        }
        guard let end else { return .unknown(in: place.realm) }
        guard now < end else {
            return .inactive("an access token that expired at \(end)", "Ask for a new one.")
        }
        return .overWithItsSession
    }
}

extension IntrospectionExplanation {
    fileprivate static func unknown(in realm: RealmID) -> IntrospectionExplanation {
        .inactive(
            "no access or refresh token that realm \(realm) gave",
            "Is it a token of another realm, an ID token, or cut off?")
    }

    fileprivate static let overWithItsSession = inactive(
        "a token whose sign-in is over: it was ended or is too old, or its account or client is "
            + "disabled or gone",
        "Sign in again; urd account sessions shows what ended.")
}
