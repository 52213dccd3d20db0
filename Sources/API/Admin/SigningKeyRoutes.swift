internal import EventSourcing
internal import HTTP
internal import Identity
internal import JOSE
internal import JSON
internal import ReadModels
internal import Values

/// The keys that a realm signs tokens and messages of webhooks with.
enum SigningKeyRoutes {
    static let table: [Route<AdminContext>] = [list, rotate]

    private static let list = Route<AdminContext>(
        .get, "/api/admin/realms/{realm}/signing-keys", id: "listSigningKeys",
        commandLine: .urd("signing-key list", examples: "urd signing-key list"),
        tag: "Signing keys", summary: "List the keys that verify the realm's tokens.",
        detail: "A realm makes its first keys when it first needs them.", right: .realm,
        parameters: [.realm], answer: .ok("The keys, oldest first.", schema, example: example),
        refusals: [.noSuchRealm]
    ) { call throws(Problem) in
        let realm = try await call.knownRealm().realm
        let standing = try await call.standing()
        return Lists.whole(try await call.signingKeys(in: realm), at: standing)
    }

    private static let rotate = Route<AdminContext>(
        .post, "/api/admin/realms/{realm}/signing-keys/rotate", id: "rotateSigningKey",
        commandLine: .urd(
            "signing-key rotate", examples: "urd signing-key rotate --algorithm ES256"),
        tag: "Signing keys", summary: "Rotate the signing keys of an algorithm.",
        detail: """
            The key that is published already begins to sign, the one that signed retires, and a \
            new one is published: to replace a key twice takes two calls, with time between them \
            for everybody to hear of the new one. A retired key is shown for 30 days.
            """,
        right: .realm, parameters: [.realm, .idempotencyKey],
        body: Body(
            schema: .named(
                "SigningKeyRotation",
                .object(.required("algorithm", algorithm, "Signature algorithm of the new key."))),
            example: ["algorithm": "ES256"]),
        answer: .written(.ok, "The keys, oldest first.", schema, example: example),
        refusals: [.noSuchRealm, .realmDisabled]
    ) { call throws(Problem) in
        let write = call.write(in: try call.realm)
        guard let algorithm = call.body["algorithm"]?.string else {
            throw Problem(.internalError)
        }
        // Whose write will be refused shall not cost what a key costs.
        try await call.knownRealm()
        let next = try await call.newSigningKey(algorithm)
        let done = try await call.run(
            SigningKeyChange.rotate(next: next, now: write.origin.at), as: write)
        let head = try await call.standing().head
        let keys = try await call.signingKeys(in: write.realm, upTo: done.positions.last)
        return Lists.whole(
            keys,
            at: ListStanding(position: done.positions.last, head: max(head, done.positions.last))
        ).at(done)
    }

    /// Ed25519 signs messages of webhooks; to `RSA-OAEP-256` and `ECDH-ES` apps of the federation profile encrypt
    /// assertions; the others sign tokens.
    private static let algorithm = Schema.oneOf(
        SigningAlgorithm.allCases.map(\.rawValue) + [SigningKeys.webhookAlgorithm]
            + SigningKeys.encryptionAlgorithms)

    fileprivate static let key = Shape<SigningKeys.Entry>(
        "SigningKey",
        .required(
            "kid", .text(1...256), "Key id (`kid`) in tokens.", \.key.id,
            example: "eKtA9GlUh9AlDbTDfHdMURbxvpwkPkFLnUJcyJNIWmM"),
        .required(
            "algorithm", algorithm, "Signature algorithm of the key.", \.key.algorithm,
            example: "ES256"),
        .required(
            "phase", .oneOf(["published", "active", "retired"]),
            "Phase of the key: published before its use, signing, or retired.", \.phase.word,
            example: "active"),
        .optional("retired_at", "Time at which the key was retired.", \.phase.retiredAt),
        .optional(
            "shown_until", "Time until which the key stays in the JWK set.",
            { $0.phase.retiredAt?.adding(seconds: SigningKeys.overlap) }))

    private static let schema = Schema.named(
        "SigningKeyList",
        .object(
            [
                .required("items", .list(of: key.schema, 0...1000), "Signing keys of the realm.")
            ] + ListStanding.schema))

    private static let example: JSON = [
        "items": [key.example], "position": 48211, "head": 48213,
    ]
}

extension Call<AdminContext> {
    fileprivate func newSigningKey(
        _ name: String
    ) async throws(Problem) -> NewSigningKey {
        do {
            if name == SigningKeys.webhookAlgorithm { return try .webhook() }
            if let algorithm = JWE.KeyManagement(rawValue: name) {
                let made = try await context.makeSigningKey(
                    algorithm == .rsaOAEP256 ? .rs256 : .es256)
                return try NewSigningKey(encrypting: made, algorithm)
            }
            guard let algorithm = SigningAlgorithm(rawValue: name) else {
                throw Problem(.internalError)
            }
            return try NewSigningKey(await context.makeSigningKey(algorithm))
        } catch {
            throw Problem(.internalError)
        }
    }

    fileprivate func signingKeys(
        in realm: RealmID, upTo position: Int64 = .max
    ) async throws(Problem) -> [JSON] {
        let keys = try await stateIfAny(
            SigningKeys.self, of: SigningKeys.stream, in: realm, upTo: position)
        return keys?.state.entries.map(SigningKeyRoutes.key.json) ?? []
    }
}

extension SigningKeys.Phase {
    var word: String {
        switch self {
        case .published: "published"
        case .active: "active"
        case .retired: "retired"
        }
    }

    fileprivate var retiredAt: Timestamp? {
        if case .retired(let at) = self { at } else { nil }
    }
}

extension SigningKeyChange.RotateRejection: Refusal {
    var problem: Problem {
        switch self {
        // A key is named by its own digest: two of one name were made by no working machine.
        case .idTaken: Problem(.internalError)
        }
    }
}
