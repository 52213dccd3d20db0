internal import EventSourcing
internal import HTTP
internal import Identity
internal import JOSE
internal import JSON
internal import Values

/// Whose a realm of the flagship profile is, and by which keys it hears what stores say.
enum OwnerAdminRoutes {
    static let table: [Route<AdminContext>] = [appoint, get, vouch, setKeys]

    private static let appoint = Route<AdminContext>(
        .put, "/api/admin/realms/{realm}/owner/{account_id}", id: "appointOwner",
        commandLine: .urd(
            "owner appoint", examples: "urd owner appoint camille@example.org --realm home"),
        tag: "Flagship",
        summary: "Appoint the account that owns a realm.",
        detail: """
            The answer has a token by which its person takes the realm over, with the first \
            passphrase. Until then it may be said again, and the token before is worth nothing.
            """,
        right: .realm, parameters: [.realm, AccountRoutes.accountID, .idempotencyKey],
        answer: .written(
            .ok, "The owner.",
            shape.adding(
                "FreshOwner",
                .added(
                    .required(
                        "register_token", .text(32...32),
                        "Registration token, to be handed to the owner."),
                    example: "00112233445566778899aabbccddeeff"))),
        refusals: [.noSuchRealm, .realmDisabled, .noSuchAccount, .ownerOnboarded]
    ) { call throws(Problem) in
        let write = call.write(in: try call.realm)
        let account = try call.requiredID("account_id")
        let mint = try await reading { () throws(LogFailure) in
            try await call.context.mint(write.realm)
        }
        let token = write.newID("register token")
        let done = try await call.run(AppointOwner(account: account, token: token), as: write)
        var members = shape.object((account, isOnboarded: false))
        members["register_token"] = .string(mint.registerToken(token))
        return Response.json(.ok, .object(members)).at(done)
    }

    private static let get = Route<AdminContext>(
        .get, "/api/admin/realms/{realm}/owner", id: "getOwner",
        commandLine: .urd("owner show", examples: "urd owner show --realm flagship"),
        tag: "Flagship",
        summary: "Show the account that owns a realm.", right: .realm, parameters: [.realm],
        answer: .ok("The owner.", shape), refusals: [.noSuchRealm, .noSuchAccount]
    ) { call throws(Problem) in
        let owner = try await call.configuration(Owner.self, of: Owner.stream)
        guard let account = owner.account else {
            throw Problem(.noSuchAccount, "The realm has no owner.")
        }
        return .json(.ok, shape.json((account, owner.isOnboarded)))
    }

    private static let vouch = Route<AdminContext>(
        .post, "/api/admin/realms/{realm}/owner/email-verified-code", id: "vouchForOwner",
        commandLine: .urd("owner vouch", examples: "urd owner vouch --realm flagship"),
        tag: "Flagship", summary: "Confirm that a realm's owner reads the mails to their address.",
        detail: """
            For a service that has just verified the owner's mailbox itself: for 15 minutes the code \
            stands for those that would be mailed to the owner when he signs in.
            """,
        right: .realm, parameters: [.realm, .idempotencyKey],
        answer: Answer.written(
            .created, "The code.",
            .named(
                "EmailVerifiedCode",
                .object(
                    .required(
                        "email_verified_code", .text(32...32),
                        "Single-use code in place of a mailed one, to be handed to the owner."),
                    .required("expires_in", .integer(1...900), "Lifetime of the code in seconds."))),
            example: [
                "email_verified_code": "AZOg514MgACQAC9rHB2aEMKl1PNoSu3x", "expires_in": 900,
            ]),
        refusals: [.noSuchRealm, .realmDisabled, .noSuchAccount]
    ) { call throws(Problem) in
        let write = call.write(in: try call.realm)
        let mint = try await reading { () throws(LogFailure) in
            try await call.context.mint(write.realm)
        }
        let code = write.newID("email verified code")
        let done = try await call.run(
            VouchForMailbox(code: code, now: write.origin.at), as: write)
        return Response.json(
            .created,
            [
                "email_verified_code": .string(mint.emailVerifiedCode(code)),
                "expires_in": .integer(VouchForMailbox.lifetime),
            ]
        ).at(done)
    }

    private static let setKeys = Route<AdminContext>(
        .put, "/api/admin/realms/{realm}/integrity-keys", id: "setIntegrityKeys",
        commandLine: .urd(
            "integrity-keys set",
            examples: "urd integrity-keys set --realm flagship --jwks '{\"keys\":[]}' \\\n"
                + "      --decryption-keys AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="),
        tag: "Flagship", summary: "Set the keys that verify Google's integrity verdicts on apps.",
        detail: "Replaces all of them at once. Keys that decrypt are never shown again.",
        right: .realm, parameters: [.realm, .idempotencyKey],
        body: Body(
            schema: .named(
                "IntegrityKeys",
                .object(
                    .required("jwks", .openObject, "JWK set that verifies signatures of verdicts."),
                    .required(
                        "decryption_keys", .list(of: .text(43...44), 0...8),
                        "AES-256 keys in base64 that decrypt verdicts."))),
            example: [
                "jwks": ["keys": []],
                "decryption_keys": ["AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="],
            ]),
        answer: .gone("The keys are stored."), refusals: [.noSuchRealm, .realmDisabled]
    ) { call throws(Problem) in
        let write = call.write(in: try call.realm)
        let jwks = call.body["jwks"] ?? .null
        guard let set = try? KeySet(jwks: jwks) else {
            throw Problem(.invalidField, "jwks is no set of public keys.", field: "jwks")
        }
        let done = try await call.run(
            IntegrityKeysChange.set(
                verification: set.document,
                decryption: (call.body["decryption_keys"]?.array ?? []).compactMap(\.string)),
            as: write)
        return Response(status: .noContent).at(done)
    }

    private static let shape = Shape<(account: UUID, isOnboarded: Bool)>(
        "Owner", .required("account_id", "Account id of the owner.", \.account),
        .required(
            "onboarded", "Whether the owner has finished the onboarding.", \.isOnboarded,
            example: false))
}

extension AppointOwner.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .accountNotFound: Problem(.noSuchAccount)
        case .onboarded: Problem(.ownerOnboarded)
        }
    }
}

extension VouchForMailbox.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .noOwner: Problem(.noSuchAccount, "The realm has no owner.")
        }
    }
}

extension IntegrityKeysChange.SetRejection: Refusal {
    var problem: Problem {
        switch self {
        case .invalid(let fault): Problem(of: fault)
        }
    }
}
