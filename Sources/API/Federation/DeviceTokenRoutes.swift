internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import Mail
internal import ReadModels
internal import Values

/// The token endpoint for devices and people.
enum DeviceTokenRoutes {
    static let table: [Route<RealmContext>] = [token]

    static let answer = Schema.object(
        .optional(
            "access_token", .text(1...16384),
            "Name of the MAC token, or the access token of another app."),
        .optional("token_type", .text(1...20), "Token type: `mac`, or `Bearer` for another app."),
        .optional("kid", .text(1...100), "Key id (`kid`) of the MAC key."),
        .optional("mac_key", .text(1...200), "MAC key, byte by byte."),
        .optional("mac_algorithm", .text(1...20), "MAC algorithm; always HS256."),
        .optional(
            "jwk", .openObject,
            "Parameters of the MAC key as a JWK, without the key; for older apps, if the realm has untimed_requests."
        ),
        .optional("k", .text(1...200), "MAC key, beside `jwk`; for older apps."),
        .optional(
            "expires_in", .integer(0...(1 << 40)),
            "Lifetime of the token in seconds; a device's token does not expire."),
        .optional("refresh_token", .text(1...4096), "Refresh token for the next token."),
        .optional("scope", .text(0...2048), "Protocols that another app may use."),
        .optional("sub", .text(0...320), "Subject of a validated assertion."),
        .optional(
            "azp", .text(1...255),
            "Authorized party of a validated assertion: the app's version or the device."),
        .optional(
            "iat", .integer(0...(1 << 53 - 1)),
            "Issue time of a validated assertion, in seconds since 1970."),
        .optional("email", .text(0...320), "Mail address of a validated assertion."))

    static let example: JSON = [
        "access_token": "…", "token_type": "mac", "kid": "Zk3nQ0bT9c", "mac_key": "…",
        "mac_algorithm": "HS256",
    ]

    private static let token = Route<RealmContext>(
        .post, "/eduid/token", id: "getFederatedToken", tag: "Federation",
        summary: "Issues tokens to devices and to people on them.",
        detail: """
            `client_credentials`: a device shows a JWT in the header `Authorization`, signed by the key of its \
            app's version. `password`: a person signs in, in a request that is signed by the device's token. \
            `refresh_token`: the next token of a person. `validate`: a service asks whom an assertion shows.
            """,
        right: .nothing, voice: .federation,
        body: Body(
            schema: .object(
                .optional("grant_type", .anything, "Grant type."),
                .optional("username", .anything, "Mail address of the account."),
                .optional("password", .anything, "Passphrase of the account."),
                .optional("totp_code", .anything, "TOTP code, if the account has a second factor."),
                .optional("refresh_token", .anything, "Refresh token."),
                .optional("jti", .anything, "Id (`jti`) of an assertion.")),
            example: ["grant_type": "client_credentials"], maximumBytes: 64 * 1024),
        answer: .ok("The token.", answer, example: example),
        refusals: FederationPaths.refusals + [.noSuchSession, .unsupportedGrantType]
    ) { call throws(Problem) in
        let refreshed =
            call.member("grant_type") == "refresh_token" ? call.member("refresh_token") : nil
        try RateCounter(call).count(
            .oauthToken, heldBy: call.context.mint.holder(ofRefreshToken: refreshed))
        switch try call.requireMember("grant_type") {
        case "client_credentials": return try await call.assertDevice()
        case "password": return try await call.signInOnDevice()
        case "refresh_token": return try await call.refreshFederated(at: nil)
        case "validate": return try await call.validateAssertion()
        // Codes are for services: this endpoint has none.
        case "authorization_code":
            throw Problem.refused("invalid_scope", "Codes are redeemed at the service.")
        default: throw Problem(.unsupportedGrantType)
        }
    }
}

extension Call<RealmContext> {
    fileprivate func assertDevice() async throws(Problem) -> Response {
        let notGood = Problem.refused(
            "invalid_client",
            "The assertion must be a JWT of now, signed (HS256) by the key of a version that is not "
                + "rejected: kid and iss its client_id, aud the token endpoint or the address above it, sub the device and "
                + "name its name.")
        let lines = request.headers.all("Authorization")
        guard let line = lines.first else { throw Problem(.unauthenticated) }
        guard lines.count == 1, let text = AuthorizationLine.text(of: line, by: "bearer"),
            let shown = SharedKeyToken(text), let clientID = shown.text("iss"),
            shown.keyID == clientID,
            let client = try await signer(of: shown, clientID),
            UntimedTokens(self).isTimely(shown),
            shown.isFor(context.place.federationAddresses),
            let device = shown.text("sub"), let name = shown.label("name"),
            shown.isUntimed || RequestAuthorization(self).sequence(of: shown) != nil
        else {
            try context.countSource()
            throw notGood
        }
        let stream = context.mint.federatedDevice(device)
        // An assertion that was overheard must not put the device out again.
        guard try await isNew(shown, of: stream) else { throw notGood }
        let keyID = TokenMint.newKeyID()
        let outcome = try await grant(
            DeviceAssertionGrant(
                device: stream, keyID: keyID, type: shown.label("device_type"),
                system: shown.label("os"), name: name),
            of: client, clientID, as: context.mint.session(ofKey: keyID))
        guard case .success(let granted) = outcome else { throw notGood }
        return .json(.ok, FederatedTokens(context).signing(granted))
    }

    /// The version that an assertion names, if it signed it. That another key did is on record, as a wrong secret is.
    private func signer(
        of shown: SharedKeyToken, _ clientID: String
    ) async throws(Problem) -> KnownClient? {
        guard let client = try await RealmLookups(context).client(named: clientID),
            client.metadata.rules.isFederationApp
        else { return nil }
        if !client.isDisabled, let key = try await context.sharedKey(of: client),
            shown.isSigned(by: key.text)
        {
            return client
        }
        var claim = RefusedClaim(Problem(.invalidClient))
        (claim.client, claim.clientID) = (client, clientID)
        context.record(claim, in: request)
        return nil
    }

    private func isNew(
        _ shown: SharedKeyToken, of device: UUID
    ) async throws(Problem) -> Bool {
        guard let sequence = RequestAuthorization(self).sequence(of: shown) else {
            return try await UntimedTokens(self).isNew(shown, showing: device)
        }
        return try await reading { () throws(LogFailure) in
            try await context.queries.advance(device, to: sequence, in: context.place.realm)
        }
    }

    /// What is wrong tells nothing of whether there is an account: every failure is 403 and takes as long.
    fileprivate func signInOnDevice() async throws(Problem) -> Response {
        let device = try await RequestAuthorization(self).caller(.device)
        guard let deviceID = device.token.device else { throw Problem(.forbidden) }
        let notGood = Problem.refused(
            "access_denied", "The mail address or the passphrase is not right, or both.")
        async let pause: Void = context.hesitate()
        let counter = RateCounter(self)
        try counter.count(.federationLogin, target: "device \(deviceID)")
        guard let name = member("username"), let typed = member("password"),
            typed.utf8.count <= 1024, let address = try? MailAddress(trimmed(name)),
            let client = try await RealmLookups(context).client(
                named: device.session.terms.clientID)
        else {
            await pause
            throw notGood
        }
        let mailbox = context.mint.mailbox(address.text)
        try counter.count(.federationLogin, target: mailbox.description)
        let compared = try await Passphrases(self).compare(typed, for: mailbox)
        let keyID = TokenMint.newKeyID()
        let outcome = try await grant(
            DeviceSignInGrant(
                proof: PassphraseProof(
                    mailbox: mailbox, comparison: compared.comparison,
                    rehashed: compared.rehashed,
                    second: SecondFactors(self).inGrant, mail: context.newID()),
                device: device.session.id, keyID: keyID, mail: context.newID(),
                name: try await deviceName(deviceID)),
            of: client, device.session.terms.clientID, as: context.mint.session(ofKey: keyID))
        guard case .success(let granted) = outcome else {
            await pause
            throw notGood
        }
        // Attempts that were right count for nothing.
        counter.giveBack()
        return .json(.ok, FederatedTokens(context).signing(granted))
    }

    /// What a device called itself when it showed itself last, from the event: it stands nowhere else.
    func deviceName(_ device: UUID) async throws(Problem) -> String? {
        for event in try await RealmLookups(context).events(of: device).reversed() {
            if case .asserted(_, let terms) = FederatedDeviceEvent(event) { return terms.name }
        }
        return nil
    }
}

extension SharedKeyToken {
    /// A label that may be displayed; nil for an invalid one.
    func label(_ name: String) -> String? {
        guard let text = text(name), text.unicodeScalars.count <= 100 else { return nil }
        let isLine = text.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse,
                .unassigned:
                false
            default: true
            }
        }
        return isLine ? text : nil
    }
}
