internal import Cryptography
internal import Identity
internal import JSON
internal import Values

/// Codes: all that one stands for, sealed.
extension TokenMint {
    func authorizationCode(_ code: AuthorizationCode) -> String? {
        var members: JSONObject = [
            "i": .string(code.id.description), "c": .string(code.client.description),
            "a": .string(code.account.description), "b": .string(code.browser.description),
            "r": .string(Base64URL.encode(code.redirect.bytes)),
            "t": .integer(code.authenticatedAt.seconds), "e": .integer(code.expiresAt.seconds),
        ]
        if !code.namesRedirect { members["u"] = true }
        members["h"] = code.challenge.map { .string(Base64URL.encode($0.bytes)) }
        members["n"] = code.nonce.map { .string($0) }
        members["k"] = code.key.map { .string($0) }
        members["l"] = code.level.map { .string($0) }
        members["w"] = code.issuer.map { .string($0) }
        if code.removals > 0 { members["x"] = .integer(Int64(code.removals)) }
        members["m"] = code.userAgent.map { .string($0) }
        let lists = [
            ("s", code.scope), ("o", code.resources), ("f", code.factors.map(\.rawValue)),
            ("d", code.idTokenClaims), ("p", code.userInfoClaims),
        ]
        for (name, list) in lists where !list.isEmpty {
            members[name] = .array(list.map { .string($0) })
        }
        return seal(.object(members), for: .authorizationCode)
    }

    func readAuthorizationCode(_ text: String) -> AuthorizationCode? {
        guard let json = unseal(text, for: .authorizationCode) else { return nil }
        func id(_ name: String) -> UUID? { json[name]?.string.flatMap { UUID($0) } }
        func digest(_ name: String) -> SecretDigest? {
            json[name]?.string.flatMap { Base64URL.decode($0) }.flatMap { SecretDigest($0) }
        }
        func texts(_ name: String) -> [String] { json[name]?.array?.compactMap(\.string) ?? [] }
        guard let id = id("i"), let client = self.id(json, "c"), let account = self.id(json, "a"),
            let browser = self.id(json, "b"), let redirect = digest("r"),
            let authenticatedAt = json["t"]?.integer, let expiresAt = json["e"]?.integer
        else { return nil }
        var code = AuthorizationCode(
            id: id, client: client, account: account, browser: browser, redirect: redirect,
            namesRedirect: json["u"] == nil, challenge: digest("h"), scope: texts("s"),
            resources: texts("o"), nonce: json["n"]?.string, idTokenClaims: texts("d"),
            userInfoClaims: texts("p"), authenticatedAt: Timestamp(seconds: authenticatedAt),
            factors: texts("f").compactMap(AuthenticationFactor.init),
            expiresAt: Timestamp(seconds: expiresAt), key: json["k"]?.string,
            level: json["l"]?.string, issuer: json["w"]?.string)
        code.userAgent = json["m"]?.string
        code.removals = Int(clamping: json["x"]?.integer ?? 0)
        return code
    }

    private func id(_ json: JSON, _ name: String) -> UUID? {
        json[name]?.string.flatMap { UUID($0) }
    }

    /// The stream of what a person lets a client do.
    func consent(of account: UUID, to client: UUID) -> UUID {
        .v8(derive(.consent, account.bytes + client.bytes))
    }

    /// The `sub` by which a client knows a user: the account, or a pairwise name for the client's
    /// sector.
    func subject(_ account: UUID, in sector: String?) -> String {
        guard let sector else { return account.description }
        return Base64URL.encode(
            Array(derive(.pairwise, account.bytes + Array(sector.utf8)).prefix(24)))
    }

    func subject(of terms: SessionTerms) -> String {
        terms.account.map { subject($0, in: terms.sector) } ?? terms.clientID
    }
}

extension SecretDigest {
    static func of(_ text: String) -> SecretDigest? {
        SecretDigest(SHA256.hash(Array(text.utf8)))
    }
}
