internal import Cryptography
internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// What routes of the flagship profile know of installations.
extension Call<RealmContext> {
    /// The stream that an installation's id stands for. Whether there is one is another question.
    func installationStream(_ text: String?) -> UUID? {
        guard let text, let bytes = Hex.decode(text), Hex.encode(bytes) == text else { return nil }
        return UUID(bytes: bytes)
    }

    /// An installation that may be spoken with.
    func installation(_ text: String?) async throws(Problem) -> (id: UUID, state: Client)? {
        guard let id = installationStream(text) else { return nil }
        let client = try await RealmLookups(context).folded(Client.self, id)
        guard client.metadata?.isInstallation == true, !client.isDeleted, !client.isDisabled,
            !client.isLapsed(id, at: context.clock.now())
        else { return nil }
        return (id, client)
    }

    /// The installation that the path names, if the caller has its registration token.
    func managedInstallation() async throws(Problem) -> (id: UUID, state: Client) {
        guard let known = try await installation(text("client_id")) else {
            throw Problem.said(.noSuchClient, "Client not found")
        }
        try requireRegistrationToken(of: known.id)
        return known
    }

    func requireRegistrationToken(of id: UUID) throws(Problem) {
        guard let token = try bearer(), context.mint.readRegistrationAccessToken(token) == id else {
            throw Problem.said(.invalidClient, "invalid_token")
        }
    }

    /// The token in the header. Some apps send the word `null` before they have one.
    func bearer() throws(Problem) -> String? {
        let lines = request.headers.all("Authorization")
        guard let line = lines.first, line != "null" else { return nil }
        guard lines.count == 1, line.utf8.count < 4096 else { return nil }
        return AuthorizationLine.text(of: line, by: "bearer")
            ?? AuthorizationLine.text(of: line, by: "basic").flatMap(Self.password)
    }

    /// Some clients show the token as a password; whose it is the token says.
    private static func password(_ pair: String) -> String? {
        guard let bytes = Base64.decode(pair), let colon = bytes.firstIndex(of: 0x3A) else {
            return nil
        }
        return String(validating: bytes[bytes.index(after: colon)...], as: UTF8.self)
    }

    /// Rate limit for the whole realm; above it, the apps get "not found".
    func countInstallation() throws(Problem) {
        do throws(Problem) {
            try RateCounter(self).countRealm(.installation)
        } catch {
            throw Problem.said(.noSuchClient, "Not found")
        }
    }

    /// The secret that an installation has after so many rotations: nothing of it is kept.
    func installationSecret(_ id: UUID, rotations: UInt32) -> ClientSecret? {
        context.mint.installationSecret(id, rotations: rotations)
    }

    /// The secret in force. Nil where it was made in another way: rotated before secrets followed from
    /// their number, by an administrator, or under a key of the realm that is retired.
    func secretInForce(of id: UUID, _ client: Client) -> ClientSecret? {
        context.mint.version {
            let secret = $0.installationSecret(id, rotations: client.secretRotations)
            return secret != nil && secret?.digest == client.secret
        }?.installationSecret(id, rotations: client.secretRotations)
    }

    /// All that an installation is told of itself.
    func document(of id: UUID, _ client: Client, secret: ClientSecret? = nil) -> JSONObject {
        let hidden: Set<String> = [
            "grant_types", "response_types", "token_endpoint_auth_method", "application_type",
            "scope",
        ]
        var members = (client.metadata?.members ?? [:]).filter {
            InstallationRoutes.told.contains($0.key) && !hidden.contains($0.key)
        }
        members["client_id"] = .string(client.clientID)
        members["grant_types"] = ["authorization_code", "refresh_token"]
        members["response_types"] = ["code"]
        members["client_secret_expires_at"] = 0
        members["client_secret"] = secret.map { .string($0.text) }
        if client.certification != nil { members["flagship"] = true }
        if client.certification?.isFromStore == true { members["certified_from_store"] = true }
        return members
    }
}

extension Commands.Caller {
    static func installation(_ id: UUID) -> Commands.Caller {
        Commands.Caller("client:\(Installation.clientID(of: id))")
    }
}

extension TokenMint {
    func installationSecret(_ id: UUID, rotations: UInt32) -> ClientSecret? {
        let count = (0..<4).reversed().map { UInt8(truncatingIfNeeded: rotations >> (8 * $0)) }
        return ClientSecret(derive(.clientSecret, id.bytes + (rotations == 0 ? [] : count)))
    }
}

extension SecretDigest {
    /// The digest of a secret as the client sent it.
    static func ofSecret(_ text: String?) -> SecretDigest? {
        text.flatMap { SecretDigest(SHA256.hash(Array($0.utf8))) }
    }
}
