internal import Cryptography
internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// How the owner of a realm comes to it, and signs in to it with the app.
enum OwnerRoutes {
    static let table: [Route<RealmContext>] = [prelogin, onboard, login]

    static let tokens: JSON = [
        "access_token": "urd_at_…", "token_type": "bearer", "refresh_token": "urd_rt_…",
        "scope": "*",
    ]

    private static let prelogin = Route<RealmContext>(
        .get, "/public/prelogin", id: "preloginOwner", tag: "Flagship",
        summary: "Shows what an app needs before it asks for a passphrase.", right: .nothing,
        voice: .flagship,
        answer: .ok(
            "How passphrases are made ready here.",
            .object(
                .required(
                    "Kdf", .integer(0...0), "Key derivation function; always PBKDF2 with SHA-256."),
                .required(
                    "KdfIterations", .integer(DerivedPassphrase.rounds),
                    "Iterations of the key derivation function."),
                .required(
                    "OIDC", .boolean, "Whether the owner can sign in with an OpenID provider."),
                .required("FranceConnect", .boolean, "Whether the provider may be FranceConnect."),
                .required("locale", .text(2...35), "Language of the owner."),
                .required("magic_link", .boolean, "Whether login links are mailed."),
                .required("name", .text(1...201), "Name of the owner, or of the realm.")),
            example: [
                "Kdf": 0, "KdfIterations": 650_000, "OIDC": false, "FranceConnect": false,
                "locale": "en", "magic_link": false, "name": "Demo",
            ]), refusals: Place.refusals + [.invalidClient], traits: .servedAtWebApps
    ) { call throws(Problem) in
        // The apps take the app's label off the host on this status, and ask again.
        guard call.context.place.webApp == nil else {
            throw Problem.said(.invalidClient, "Not authorized")
        }
        let owner = try await RealmLookups(call.context).folded(Owner.self, Owner.stream)
        guard owner.isOnboarded, let account = owner.account,
            let derived = try await RealmLookups(call.context).folded(
                Passphrase.self, Passphrase.stream(of: account)
            ).derived
        else {
            return .json(
                .preconditionFailed, ["error": "the instance has not been onboarded"])
        }
        let settings = call.context.place.settings
        let person = try await call.knownOwner(of: account)
        let name = person?.publicName ?? ""
        let providers = try await RealmLookups(call.context).providers().map(\.slug)
        return .json(
            .ok,
            [
                "Kdf": 0, "KdfIterations": .integer(derived.rounds),
                "OIDC": .bool(providers.contains { $0 != "franceconnect" }),
                "FranceConnect": .bool(providers.contains("franceconnect")),
                "locale": .string(person?.language ?? call.language.rawValue),
                "magic_link": .bool(settings[SettingCatalogue.ownerLinks]),
                "name": .string(name.isEmpty ? settings[SettingCatalogue.displayName] : name),
            ])
    }

    private static let onboard = Route<RealmContext>(
        .post, "/settings/passphrase/flagship", id: "onboardOwner", tag: "Flagship",
        summary: "Sets an owner's first passphrase, by the register token.",
        detail: """
            The passphrase comes as the device has hashed it. An app that is not certified gets a \
            session code and 202.
            """,
        right: .nothing, voice: .flagship,
        body: Body(
            schema: .openObject,
            example: [
                "register_token": "00112233445566778899aabbccddeeff", "passphrase": "…",
                "iterations": 650_000, "client_id": "…", "client_secret": "…",
            ], maximumBytes: 64 * 1024),
        answer: .ok("Tokens.", .openObject, example: tokens),
        refusals: Place.refusals + [.invalidRequest, .rateLimited]
    ) { call throws(Problem) in
        let members = call.body
        guard let token = members["register_token"]?.string, Hex.decode(token)?.isEmpty == false
        else { return .jsonAPIError(.badRequest, "Bad request", "register_token is not valid") }
        guard let rounds = members["iterations"]?.integer, DerivedPassphrase.rounds.contains(rounds)
        else {
            return .jsonAPIError(
                .unprocessable, "Invalid Parameter",
                "The number of rounds is not from \(DerivedPassphrase.rounds.lowerBound) to "
                    + "\(DerivedPassphrase.rounds.upperBound).", parameter: "KdfIterations")
        }
        try RateCounter(call).countRealm(.ownerSignIn)
        let known = try await call.registerToken(token)
        var derived = try call.derivedPassphrase(rounds)
        // A caller without a token must not cause the work of a hash.
        if known != nil { derived.hash = try await call.hashed(members["passphrase"]?.string) }
        do throws(Problem) {
            let outcome = try await Commands(call).dispatch(
                OnboardOwner(
                    token: known ?? .zero, passphrase: derived, mail: call.context.newID(),
                    request: call.ownerRequest(members)), as: .anonymous)
            return try call.ownerResponse(outcome)
        } catch {
            guard error.detail == OwnerRefusal.invalidRegisterToken.problem.detail else {
                throw error
            }
            return .jsonAPIError(.badRequest, "Bad request", error.detail)
        }
    }

    private static let login = Route<RealmContext>(
        .post, "/auth/login/flagship", id: "loginOwner", tag: "Flagship",
        summary: "Signs an owner in with the app, by passphrase.",
        detail: """
            The passphrase comes as the device has hashed it. 401 with `two_factor_token` asks for \
            the code that was mailed; an app that is not certified gets a session code and 202.
            """,
        right: .nothing, voice: .flagship,
        body: Body(
            schema: .openObject,
            example: ["passphrase": "…", "client_id": "…", "client_secret": "…"],
            maximumBytes: 16 * 1024),
        answer: .ok("Tokens.", .openObject, example: tokens),
        refusals: Place.refusals + [.invalidRequest, .invalidClient, .forbidden, .rateLimited]
    ) { call throws(Problem) in
        try call.ownerResponse(
            try await call.signInOwner(call.body, for: call.ownerRequest(call.body)))
    }
}

extension Call<RealmContext> {
    /// What a device sent beside its hash. The data is stored as it is.
    func derivedPassphrase(_ rounds: Int64) throws(Problem) -> DerivedPassphrase {
        func text(_ name: String, or other: String = "") throws(Problem) -> String? {
            guard let text = body[name]?.string ?? body[other]?.string, !text.isEmpty else {
                return nil
            }
            guard text.utf8.count <= 16_384, !text.utf8.contains(0) else {
                throw Problem.said(.invalidRequest, "\(name) is not valid")
            }
            return text
        }
        return DerivedPassphrase(
            rounds: rounds, hash: nil, hint: try text("hint"), key: try text("key"),
            publicKey: try text("public_key", or: "publicKey"),
            privateKey: try text("private_key", or: "privateKey"))
    }

    func hashed(_ text: String?) async throws(Problem) -> String {
        guard let text, (16...4096).contains(text.utf8.count) else {
            throw Problem.said(.invalidRequest, "passphrase is not valid")
        }
        do {
            return try await context.passphrases.hash(
                SecretBytes(Array(text.utf8)), Passphrases(self).turn(about: Owner.stream))
        } catch {
            throw Problem(.busy)
        }
    }
}
