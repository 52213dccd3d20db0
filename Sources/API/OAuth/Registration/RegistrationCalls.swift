internal import Cryptography
internal import EventSourcing
internal import HTTP
internal import Identity
internal import JOSE
internal import JSON
internal import ReadModels
internal import Values

extension Call<RealmContext> {
    /// The token in the header, whichever kind it is. Nil without the header.
    private func bearerText() throws(Problem) -> String? {
        let lines = request.headers.all("Authorization")
        guard let line = lines.first else { return nil }
        guard lines.count == 1, line.utf8.count < 1024,
            let text = AuthorizationLine.text(of: line, by: "bearer")
        else { throw Problem(.invalidToken) }
        return text
    }

    func initialAccessToken() throws(Problem) -> UUID? {
        guard let text = try bearerText() else { return nil }
        guard let token = context.mint.readInitialAccessToken(text) else {
            throw Problem(.invalidToken)
        }
        return token
    }

    /// The client that the path names, if the caller has its token. No other caller learns whether
    /// the client exists.
    func registeredClient() async throws(Problem) -> UUID {
        let text = try bearerText()
        let shown = text.flatMap(context.mint.readRegistrationAccessToken)
        try RateCounter(self).count(.oauthToken, heldBy: shown.map { "registration \($0)" })
        guard text != nil else { throw Problem(.unauthenticated) }
        guard let id = shown else { throw Problem(.invalidToken) }
        let name = try required("client_id")
        let known = try await reading { () throws(LogFailure) in
            try await context.clients.fresh(name, in: context.place.realm)
        }
        guard let known, known.id == id, !known.isDisabled else { throw Problem(.invalidToken) }
        return id
    }

    func client(_ id: UUID) async throws(Problem) -> StreamSnapshot<Client> {
        let events = try await reading { () throws(LogFailure) in
            try await context.commands.events.stream(id, after: 0, in: context.place.realm)
        }
        var client = Client()
        for recorded in events {
            guard let event = ClientEvent(recorded) else { throw Problem(.logDamaged) }
            client.apply(event)
        }
        guard let first = events.first, let last = events.last else {
            throw Problem(.internalError)
        }
        // It was removed meanwhile, and its token with it (RFC 7592 section 2.2).
        guard !client.isDeleted else { throw Problem(.invalidToken) }
        return StreamSnapshot(state: client, createdAt: first.at, changedAt: last.at)
    }

    /// What a client is told of itself, with its secret if it has just got it.
    func registration(
        of id: UUID, _ secret: ClientSecret?
    ) async throws(Problem) -> JSONObject {
        let client = try await client(id)
        let clientID = client.state.clientID
        var members = client.state.metadata?.members ?? [:]
        members["client_id"] = .string(clientID)
        members["client_id_issued_at"] = .integer(client.createdAt.seconds)
        if let secret, secret.digest == client.state.secret {
            members["client_secret"] = .string(secret.text)
            members["client_secret_expires_at"] = 0
        }
        members["registration_access_token"] = .string(
            context.mint.registrationAccessToken(ofClient: id))
        members["registration_client_uri"] = .string(
            "\(context.place.issuer)\(ClientRegistrationRoutes.path)/\(clientID)")
        return members
    }

    /// RFC 7592 section 2.2: a secret that is sent must be the client's.
    func requireOwnSecret(_ secret: JSON?, of client: Client) throws(Problem) {
        guard let secret, !secret.isNull else { return }
        guard let text = secret.string, let known = client.secret,
            constantTimeEqual(SHA256.hash(Array(text.utf8)), known.bytes)
        else { throw Problem(.invalidRequest, "client_secret is not the client's.") }
    }

    /// What the document of a client's sector lists (OpenID Connect Core section 8.1).
    func sectorPlaces(_ address: JSON?) async -> [String]? {
        guard let text = address?.string, text.utf8.count <= 2_000,
            URLParts.parse(text)?.scheme == "https",
            let listed = await context.remoteKeys.document(at: text)?.array
        else { return nil }
        return listed.prefix(1_000).compactMap(\.string)
    }

    /// What the client's maker says of it, where one is trusted who does.
    func softwareStatement(in metadata: JSONObject) async throws(Problem) -> SoftwareStatement? {
        guard let value = metadata["software_statement"], !value.isNull else { return nil }
        guard let text = value.string,
            let issuer = try? SignedStatement.claimedIssuer(in: text)
        else { throw Problem(.invalidSoftwareStatement) }
        guard
            let trusted = TrustedIssuer(
                issuer, in: context.place.settings[SettingCatalogue.statementIssuers]),
            let source = KeySource(trusted.jwks, trusted.jwksURI)
        else { throw Problem(.unapprovedSoftwareStatement) }
        let now = context.clock.now()
        do throws(TokenRejection) {
            let found = try await context.remoteKeys.check(source) { keys throws(TokenRejection) in
                try SignedStatement.check(
                    text, of: issuer, for: context.place.issuer, keys: keys,
                    algorithms: ClientKeys.known, at: now)
            }
            return SoftwareStatement(text, claims: found.claims.members)
        } catch {
            throw Problem(.invalidSoftwareStatement)
        }
    }
}
