internal import Cryptography
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// How an owner manages their passphrase, with the app.
enum OwnerSettingsRoutes {
    static let table: [Route<RealmContext>] = [
        parameters, change, check, hint, setHint, secondFactor, capabilities,
    ]

    private static let refusals: [ProblemKind] =
        Place.refusals + [.invalidRequest, .invalidClient, .forbidden, .rateLimited]
    private static let done = Answer.done(
        "The request was accepted: a change is stored, a passphrase is right, a hint exists.")

    private static let parameters = Route<RealmContext>(
        .get, "/settings/passphrase", id: "getOwnerPassphrase", tag: "Flagship",
        summary: "Shows how a device derives its hash of a passphrase.", right: .nothing,
        voice: .flagship,
        answer: .ok("In JSON:API.", .openObject, example: [:]), refusals: refusals
    ) { call throws(Problem) in
        _ = try await call.everything()
        let rounds = try await call.ownerPassphrase().derived?.rounds ?? 0
        return .jsonAPI(
            .ok,
            [
                "data": [
                    "type": "io.cozy.settings", "id": "io.cozy.settings.passphrase",
                    "attributes": [
                        "salt": .string("me@\(call.context.place.host)"), "kdf": 0,
                        "iterations": .integer(rounds),
                    ], "links": ["self": "/settings/passphrase"],
                ]
            ])
    }

    private static let change = Route<RealmContext>(
        .put, "/settings/passphrase", id: "changeOwnerPassphrase", tag: "Flagship",
        summary: "Sets another passphrase.",
        detail: """
            Where a mailed code is needed, the first answer has a token for it, which stands for the \
            present passphrase from then on. What is left out stays as it is.
            """,
        right: .nothing, voice: .flagship,
        body: Body(
            schema: .openObject,
            example: [
                "current_passphrase": "…", "new_passphrase": "…", "iterations": 650_000,
            ], maximumBytes: 64 * 1024),
        answer: done, refusals: refusals
    ) { call throws(Problem) in
        let client = try await call.everything().session.terms.client
        let known = try await call.ownerPassphrase()
        var rounds = known.derived?.rounds ?? OwnerPassphraseForm.usualRounds
        if let asked = call.body["iterations"], !asked.isNull {
            guard let number = asked.integer, DerivedPassphrase.rounds.contains(number) else {
                return .jsonAPIError(
                    .unprocessable, "Invalid Parameter", "The number of rounds is not allowed.",
                    parameter: "KdfIterations")
            }
            rounds = number
        }
        guard let chosen = call.body["new_passphrase"], !chosen.isNull else {
            return try await call.changePassphrase(known.hash, to: nil, by: client)
        }
        var derived = try call.derivedPassphrase(rounds)
        derived.keep(known.derived)
        derived.hash = try await call.hashed(chosen.string)
        if call.body["force"] == true, try await call.restored(derived) {
            return Response(status: .noContent)
        }
        return try await call.changePassphrase(known.hash, to: derived, by: client)
    }

    private static let check = Route<RealmContext>(
        .post, "/settings/passphrase/check", id: "checkOwnerPassphrase", tag: "Flagship",
        summary: "Checks a passphrase.", right: .nothing, voice: .flagship,
        body: Body(schema: .openObject, example: ["passphrase": "…"], maximumBytes: 16 * 1024),
        answer: done, refusals: refusals
    ) { call throws(Problem) in
        _ = try await call.everything()
        // As a sign-in: guesses are counted, and none is taken for a while after some.
        guard try await call.signInOwner(call.body, for: call.ownerRequest(.nobody)) == .done
        else { throw Problem.said(.forbidden, "Invalid passphrase") }
        return Response(status: .noContent)
    }

    private static let hint = Route<RealmContext>(
        .get, "/settings/hint", id: "checkOwnerHint", tag: "Flagship",
        summary: "Shows whether there is a hint.", detail: "The hint itself is not shown.",
        right: .nothing, voice: .flagship, answer: done, refusals: refusals + [.noSuchClient]
    ) { call throws(Problem) in
        _ = try await call.everything()
        guard try await call.ownerPassphrase().derived?.hint != nil else {
            throw Problem.said(.noSuchClient, "No hint")
        }
        return Response(status: .noContent)
    }

    private static let setHint = Route<RealmContext>(
        .put, "/settings/hint", id: "changeOwnerHint", tag: "Flagship",
        summary: "Sets the hint to the owner's passphrase.", right: .nothing,
        voice: .flagship,
        body: Body(schema: .openObject, example: ["hint": "otters"], maximumBytes: 16 * 1024),
        answer: done, refusals: refusals
    ) { call throws(Problem) in
        let client = try await call.everything().session.terms.client
        guard let hint = call.body["hint"]?.string.map(trimmed) else {
            throw Problem.said(.invalidRequest, "hint is not valid")
        }
        let refusal = try await Commands(call).attempt(
            ChangeHint(hint.isEmpty ? nil : hint), as: .installation(client))
        if let refusal { throw refusal.problem }
        return Response(status: .noContent)
    }

    private static let secondFactor = Route<RealmContext>(
        .put, "/settings/instance/auth_mode", id: "changeOwnerSecondFactor", tag: "Flagship",
        summary: "Sets whether a passphrase needs a mailed code as well.",
        detail: "Without `two_factor_activation_code` one is mailed first.", right: .nothing,
        voice: .flagship,
        body: Body(
            schema: .openObject, example: ["auth_mode": "two_factor_mail"],
            maximumBytes: 16 * 1024),
        answer: done, refusals: refusals
    ) { call throws(Problem) in
        let client = try await call.everything().session.terms.client
        let now = call.context.clock.now()
        switch call.body["auth_mode"]?.string {
        case "basic":
            _ = try await Commands(call).dispatch(
                ChangeMailedCodes(typed: nil, now: now),
                as: .installation(client))
            return Response(status: .noContent)
        case "two_factor_mail": return try await call.demandMailedCodes(client)
        default: throw Problem.said(.invalidRequest, "invalid auth_mode")
        }
    }

    private static let capabilities = Route<RealmContext>(
        .get, "/settings/capabilities", id: "getCapabilities", tag: "Flagship",
        summary: "Shows how the owner may sign in.", right: .nothing, voice: .flagship,
        answer: .ok("In JSON:API.", .openObject, example: [:]), refusals: Place.refusals
    ) { call throws(Problem) in
        .jsonAPI(
            .ok,
            [
                "data": [
                    "type": "io.cozy.settings", "id": "io.cozy.settings.capabilities",
                    "attributes": try await call.capabilitiesOfRealm(),
                    "links": ["self": "/settings/capabilities"],
                ]
            ])
    }
}

extension Call<RealmContext> {
    fileprivate func ownerPassphrase() async throws(Problem) -> Passphrase {
        let account =
            try await RealmLookups(context).folded(Owner.self, Owner.stream).account ?? .zero
        return try await RealmLookups(context).folded(
            Passphrase.self, Passphrase.stream(of: account))
    }

    /// Where a code is mailed there are two steps: the first one proves the passphrase, and its token says so
    /// in the second one. It is of no use to another app, nor once there is another passphrase.
    fileprivate func changePassphrase(
        _ known: String?, to passphrase: DerivedPassphrase?, by client: UUID
    ) async throws(Problem) -> Response {
        var members = body.object ?? [:]
        members["passphrase"] = members["current_passphrase"]
        let asker = "client:\(client)"
        var proved: String?
        if let known, let token = members["two_factor_token"]?.string,
            let code = readStepToken(token, known, asker)
        {
            members["two_factor_token"] = .string(context.mint.mailedCodeToken(code))
            proved = known
        }
        let outcome = try await signInOwner(
            .object(members),
            for: ownerRequest(.newPassphrase(passphrase, mail: context.newID())), proved: proved)
        switch outcome {
        case .mailedCodeNeeded(let code):
            guard let known else { throw Problem(.internalError) }
            return .json(
                .ok, ["two_factor_token": .string(try stepToken(code, known, asker))])
        case .done where passphrase == nil:
            throw Problem.said(.invalidRequest, "passphrase is not valid")
        default: return try ownerResponse(outcome)
        }
    }

    /// Whether the owner had no passphrase any more: there was none to prove, so this one is
    /// accepted.
    fileprivate func restored(_ passphrase: DerivedPassphrase) async throws(Problem) -> Bool {
        let client = try await everything().session.terms.client
        let refusal = try await Commands(self).attempt(
            RestorePassphrase(passphrase, mail: context.newID(), now: context.clock.now()),
            as: .installation(client))
        switch refusal {
        case nil: return true
        case .set?: return false
        case let refusal?: throw refusal.problem
        }
    }

    fileprivate func demandMailedCodes(_ client: UUID) async throws(Problem) -> Response {
        let (owner, account) = try await ownersAccount()
        let stream = MailedCode.stream(of: owner.account ?? .zero, .secondFactor)
        let now = context.clock.now()
        let digits = body["two_factor_activation_code"]?.string ?? ""
        guard !digits.isEmpty else {
            try RateCounter(self).countRealm(.ownerMail)
            let code = context.newID()
            guard
                let digest = context.mint.digest(
                    ofMailedCode: context.mint.code(code), in: stream)
            else { throw Problem(.internalError) }
            let refusal = try await Commands(self).attempt(
                RequestMailedCode(code: code, digest: digest, now: now), as: .installation(client))
            if let refusal { throw refusal.problem }
            return Response(status: .noContent)
        }
        let shown = context.mint.shown { $0.digest(ofMailedCode: digits, in: stream) }
        let live = try await RealmLookups(context).folded(MailedCode.self, stream).code(
            typedAs: shown, of: account, at: now)
        let outcome = try await Commands(self).dispatch(
            ChangeMailedCodes(
                typed: TypedMailedCode(id: live ?? .zero, shown: shown), now: now),
            as: .installation(client))
        guard outcome == .changed else {
            return .jsonAPIError(
                .unprocessable, "Invalid Parameter", "The code is not right.",
                parameter: "two_factor_activation_code")
        }
        return Response(status: .noContent)
    }
}

extension DerivedPassphrase {
    /// An app need not send again what it does not change.
    fileprivate mutating func keep(_ known: DerivedPassphrase?) {
        hint = hint ?? known?.hint
        key = key ?? known?.key
        guard publicKey == nil, privateKey == nil else { return }
        (publicKey, privateKey) = (known?.publicKey, known?.privateKey)
    }
}

extension RequestMailedCode.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .noOwner: .said(.forbidden, "Not authorized")
        }
    }
}

extension ChangeHint.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .noPassphrase: .said(.forbidden, "Not authorized")
        case .invalid: .said(.invalidRequest, "hint is not valid")
        }
    }
}

extension RestorePassphrase.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .noOwner, .set: .said(.forbidden, "Not authorized")
        }
    }
}

extension Call<RealmContext> {
    /// The owner's sign-in methods here, and what else the apps ask for.
    func capabilitiesOfRealm() async throws(Problem) -> JSON {
        [
            "can_auth_with_password": true,
            "can_auth_with_oidc": .bool(try await !RealmLookups(context).providers().isEmpty),
            "can_auth_with_magic_links": .bool(
                context.place.settings[SettingCatalogue.ownerLinks]),
            "flat_subdomains": false, "file_versioning": false,
        ]
    }
}
