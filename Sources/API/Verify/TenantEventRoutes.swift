internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// Events of the profile: what a person agrees to with a device that they trust, for it or for another one.
enum TenantEventRoutes {
    static let table: [Route<RealmContext>] = [create, request, get, waiting, waitingOf, respond]

    private static let refusals: [ProblemKind] =
        Place.refusals + [.forbidden, .invalidRequest, .invalidGrant, .rateLimited]

    private static let example: JSON = [
        "client_user_id": "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10", "event": "LOGIN",
        "timestamp": "1732640000", "method": "TRUSTED_DEVICE", "code": "…", "public_key": "…",
    ]
    private static let answer = Answer.ok("The event.", .openObject, example: ["ID": 4711])
    private static let waitingAnswer = Answer.ok(
        "The event; null where none waits.", .nullable(.openObject), example: ["ID": 4711])

    static let unknown = Problem(.invalidRequest, "There is no such event, or none any more.")
    /// Whether the person, the method, the key or the signature is wrong is not said.
    static let notApproved = Problem(
        .invalidGrant, "The event was not approved: the code is wrong, used, too old, or locked.")

    private static let create = Route<RealmContext>(
        .post, "/api/v0/event/create", id: "createTenantEvent", tag: "Verify",
        summary: "Agrees to something with a device's signature or the PIN.",
        detail: """
            A device signs the person's ID, the API key, `event`, `timestamp`, `method`, `true` and, where it \
            lets another device in, that one's public key, one behind the other. With `oauth_token=true` an \
            event whose name begins with `LOGIN` signs the person in. A signature is good once.
            """,
        right: .nothing, voice: .verify,
        parameters: [Tenant.key, TenantMethodRoutes.wantsTokens],
        body: Body(schema: .object(TenantEvent.members), example: example), answer: answer,
        refusals: refusals, traits: .forTenantScripts
    ) { call throws(Problem) in
        try await call.answerTenantApp { tenant throws(Problem) in
            try await call.createEvent(tenant)
        }
    }

    private static let request = Route<RealmContext>(
        .post, "/api/v0/event/create_pending", id: "requestTenantEvent", tag: "Verify",
        summary: "Asks for a person's agreement on a device that they trust.",
        detail: """
            It waits for three minutes; a newer one from the same network ends it. The answer is the same for people \
            whom there are not.
            """,
        right: .nothing, voice: .verify, parameters: [Tenant.key],
        body: Body(schema: .object(TenantEvent.members), example: example), answer: answer,
        refusals: refusals, traits: .forTenantScripts
    ) { call throws(Problem) in
        try await call.answerTenantApp { tenant throws(Problem) in
            try await call.requestEvent(tenant)
        }
    }

    private static let number = Parameter(
        "id", in: .path, .text(1...20), "Event number.", example: "4711")

    private static let get = Route<RealmContext>(
        .get, "/api/v0/event/get/{id}", id: "getTenantEvent", tag: "Verify",
        summary:
            "Shows an event to the app that knows its number, and signs its person in, once.",
        right: .nothing, voice: .verify,
        parameters: [number, Tenant.key, TenantMethodRoutes.wantsTokens], answer: answer,
        refusals: refusals, traits: .forTenantScripts
    ) { call throws(Problem) in
        try await call.answerTenantApp { tenant throws(Problem) in
            try await call.showEvent(tenant)
        }
    }

    private static let waitingOf = Route<RealmContext>(
        .get, "/api/v0/event/new/{id}", id: "getWaitingTenantEventByPath", tag: "Verify",
        summary: "Shows the person the event that waits for them, if any.", detail: whoMayKnow,
        right: .nothing, voice: .verify,
        parameters: [TenantMethodRoutes.person, Tenant.key, Tenant.secret], answer: waitingAnswer,
        refusals: refusals, traits: .forTenantScripts
    ) { call throws(Problem) in try await call.showWaiting(try call.required("id")) }

    private static let waiting = Route<RealmContext>(
        .get, "/api/v0/event/new", id: "getWaitingTenantEvent", tag: "Verify",
        summary: "Shows the person the event that waits for them, if any.", detail: whoMayKnow,
        right: .nothing, voice: .verify,
        parameters: [
            Parameter("cotter_user_id", in: .query, .text(0...64), "Person id."),
            Parameter(
                "client_user_id", in: .query, .text(0...255),
                "Person id, or the tenant's own id of the person."), Tenant.key, Tenant.secret,
        ], answer: waitingAnswer, refusals: refusals, traits: .forTenantScripts
    ) { call throws(Problem) in
        let named = ["cotter_user_id", "client_user_id"].compactMap { call.text($0) }
        return try await call.showWaiting(named.first { !$0.isEmpty } ?? "")
    }

    private static let whoMayKnow =
        "To the tenant's server, and to an app that shows an access token of that very person."

    private static let respond = Route<RealmContext>(
        .post, "/api/v0/event/respond/{id}", id: "answerTenantEvent", tag: "Verify",
        summary: "Agrees with a trusted device to what another one asks for, or refuses it.",
        detail: """
            The device signs the person's ID, the API key, the event's `event` and `timestamp`, \
            `TRUSTED_DEVICE`, and `true` or `false`. A signature is good once, here and at event/create together.
            """,
        right: .nothing, voice: .verify, parameters: [number, Tenant.key],
        body: Body(schema: .object(TenantEvent.members), example: example), answer: answer,
        refusals: refusals, traits: .forTenantScripts
    ) { call throws(Problem) in
        try await call.answerTenantApp { tenant throws(Problem) in
            try await call.answerEvent(tenant)
        }
    }
}

extension Call<RealmContext> {
    fileprivate func createEvent(_ tenant: Tenant) async throws(Problem) -> Response {
        guard
            let asked = TenantEvent(
                body, tenant,
                of: try await account(ofEvent: tenant, own: try await ownUser(tenant)))
        else {
            throw TenantEvent.wrongForm
        }
        let owner = methodOwner(asked.account, tenant)
        // A PIN can be guessed, a signature cannot: a stranger who knows the person's id keeps none of their devices out.
        if asked.method == .pin {
            try RateCounter(self).count(.passphrase, target: owner.stream.description)
        } else {
            try RateCounter(self).count(.passkeyBegin)
        }
        guard body["approved"]?.bool ?? true else { throw TenantEvent.wrongForm }
        let methods = try await methods(of: asked.account, for: tenant)
        let code = body["code"]?.string ?? ""
        // It takes as long for people whom there are not.
        let typed =
            asked.method == .pin
            ? try await compare(pin: code, of: asked.account, with: methods) : nil
        guard let person = try await verifiedPerson(asked.account, for: tenant) else {
            throw TenantEventRoutes.notApproved
        }
        var newKey: DeviceKey?
        if body["register_new_device"]?.bool == true {
            newKey = try deviceKey(
                "new_device_public_key", "new_device_algorithm", .trustedDevice)
        }
        var number = TokenMint.randomNumber(eventNumber)
        let shown: DeviceProof.Shown
        if let typed {
            shown = .pin(typed)
        } else {
            let extra = newKey == nil ? "" : body["new_device_public_key"]?.string ?? ""
            let signed = self.signed(
                by: methods, asked.method, person, tenant, asked.label, asked.timestamp,
                approved: true, newKey: extra)
            shown = signed.map { .signature(key: $0.key) } ?? .refused(reason: "wrong_signature")
            if let signed {
                number = context.mint.approvalNumber(
                    ofSigned: signed.message, by: signed.key, eventNumber)
            }
        }
        let now = context.clock.now()
        let proof = DeviceProof(
            approval: context.mint.approval(number, for: tenant.client.id), owner: owner,
            terms: ApprovalTerms(
                number: number, client: tenant.client.id, account: asked.account,
                label: asked.label, method: asked.method, signedAt: asked.signedAt, at: now,
                address: context.place.address, from: context.signInPlace(of: request)),
            shown: shown, second: SecondFactors(self).typed(body["totp"]?.string),
            newKey: newKey, mail: context.newID())
        guard text("oauth_token") == "true", proof.terms.signsIn else {
            switch try await Commands(self).attempt(
                GiveApproval(proof, now: now), as: .user(asked.account, client: tenant.apiKey))
            {
            case .success(.success): break
            case .success(.failure), .failure: throw TenantEventRoutes.notApproved
            }
            return try await show(number, proof.approval, person, nil, tenant)
        }
        let (granted, _) = try await openTenantSession(TenantSignIn(proof), tenant) {
            Self.refused($0)
        }
        return try await show(number, proof.approval, person, granted, tenant)
    }

    /// By which of the person's keys a text of the body was signed, and what that was. Apps name the person by
    /// the account's ID or by the tenant's own name.
    fileprivate func signed(
        by methods: TenantMethods, _ method: TenantMethod, _ person: VerifiedPerson,
        _ tenant: Tenant, _ label: String, _ timestamp: String, approved: Bool,
        newKey: String = ""
    ) -> (key: UUID, message: String)? {
        let named = DeviceSignature.lookedUp(body["public_key"]?.string ?? "")
        guard let key = named.lazy.compactMap({ methods.key($0, for: method) }).first,
            let signature = body["code"]?.string ?? body["signature"]?.string
        else { return nil }
        for name in [person.account.description, person.name(for: tenant.apiKey)] {
            let message = TenantEvent.message(
                name, tenant, label, timestamp, method, approved: approved, newKey: newKey)
            if DeviceSignature.isValid(signature, for: message, by: key) {
                return (key.id, message)
            }
        }
        return nil
    }

    private static func refused(_ refusal: GrantRefusal) -> Problem {
        switch refusal {
        case .secondFactorRequired, .invalidSecondFactor:
            Problem(
                .invalidGrant,
                "This account has a second factor: send its code as totp, or sign in on the page.")
        default: TenantEventRoutes.notApproved
        }
    }

    private func show(
        _ number: Int64, _ approval: UUID, _ person: VerifiedPerson?, _ granted: GrantedTokens?,
        _ tenant: Tenant
    ) async throws(Problem) -> Response {
        let state = try await RealmLookups(context).folded(Approval.self, approval)
        var members = try event(number, state, of: person, tenant)
        guard let granted, let person else { return .json(.ok, .object(members)) }
        return try await answerWithTokens(&members, with: granted, of: person, tenant)
    }

    fileprivate func requestEvent(_ tenant: Tenant) async throws(Problem) -> Response {
        guard
            let asked = TenantEvent(
                body, tenant, of: try await account(ofEvent: tenant, own: nil)),
            asked.method == .trustedDevice
        else {
            throw TenantEvent.wrongForm
        }
        let owner = methodOwner(asked.account, tenant)
        let counter = RateCounter(self)
        try counter.count(.deviceCode, target: counter.atBlock(owner.stream.description))
        let number = TokenMint.randomNumber(eventNumber)
        let approval = context.mint.approval(number, for: tenant.client.id)
        let person = try await verifiedPerson(asked.account, for: tenant)
        let now = context.clock.now()
        let terms = ApprovalTerms(
            number: number, client: tenant.client.id, account: nil, label: asked.label,
            method: .trustedDevice, signedAt: asked.signedAt, at: now,
            address: context.place.address, from: context.signInPlace(of: request))
        var command = RequestApproval(
            approval: approval, terms: terms, owner: person.map { _ in owner }, now: now)
        command.network = Base64URL.decode(
            context.mint.pseudonym(ofNetwork: Source(context.place.address).block))
        let refusal = try await Commands(self).attempt(command, as: .client(tenant.apiKey))
        switch refusal {
        case nil: return try await show(number, approval, nil, nil, tenant)
        case .numberTaken: throw Problem(.busy)
        case .stale:
            throw Problem(
                .invalidRequest, "timestamp must be within three minutes of this server's time.")
        }
    }

    fileprivate func showEvent(_ tenant: Tenant) async throws(Problem) -> Response {
        try RateCounter(self).count(.oauthToken)
        let (number, id, state) = try await approval(tenant)
        guard let account = state.terms?.account, state.answer?.isApproved == true,
            mayTake(state),
            let person = try await verifiedPerson(account, for: tenant)
        else { return try await show(number, id, nil, nil, tenant) }
        let session = Approval.session(of: id)
        guard text("oauth_token") == "true", state.terms?.signsIn == true,
            try await RealmLookups(context).events(of: session).isEmpty
        else { return try await show(number, id, person, nil, tenant) }
        let proof = ApprovalProof(approval: id, owner: methodOwner(account, tenant))
        let (granted, _) = try await openTenantSession(TenantSignIn(proof), tenant) {
            Self.refused($0)
        }
        return try await show(number, id, person, granted, tenant)
    }

    /// Whether the number alone shows who asked: a short one may have been guessed, and is good from the network
    /// alone that the event was asked for from.
    private func mayTake(_ state: Approval) -> Bool {
        switch eventNumber {
        case .long: true
        case .short:
            state.terms?.address.map(Source.init) == Source(context.place.address)
        }
    }

    /// The approval that the path names, if this tenant's apps asked for it.
    private func approval(_ tenant: Tenant) async throws(Problem) -> (Int64, UUID, Approval) {
        guard let number = Int64(try required("id")), number > 0 else {
            throw TenantEventRoutes.unknown
        }
        let id = context.mint.approval(number, for: tenant.client.id)
        let state = try await RealmLookups(context).folded(Approval.self, id)
        guard state.terms?.client == tenant.client.id else { throw TenantEventRoutes.unknown }
        return (number, id, state)
    }

    fileprivate func showWaiting(_ named: String) async throws(Problem) -> Response {
        let (tenant, isServer) = try await tenantCaller()
        return try await answerTenant(tenant) { () throws(Problem) in
            let own = isServer ? nil : try await ownUser(tenant)
            let account = try await account(named: named, own: own, tenant)
            guard let account, isServer || own == account else {
                throw Problem(
                    .forbidden,
                    "This needs an access token of this very person (Authorization: Bearer).")
            }
            let all = try await methods(of: account, for: tenant).awaited
            let now = context.clock.now()
            guard let person = try await verifiedPerson(account, for: tenant) else {
                return .json(.ok, .null)
            }
            // The one that waits longest: each has its turn, however many strangers ask.
            for awaited in all where now < awaited.expiresAt {
                let state = try await RealmLookups(context).folded(
                    Approval.self, awaited.approval)
                guard state.isOpen(at: now) else { continue }
                return .json(
                    .ok, .object(try event(awaited.number, state, of: person, tenant)))
            }
            return .json(.ok, .null)
        }
    }

    fileprivate func answerEvent(_ tenant: Tenant) async throws(Problem) -> Response {
        let (number, id, state) = try await approval(tenant)
        let isApproved = body["approved"]?.bool ?? true
        guard body["register_new_device"]?.bool != true else {
            throw Problem(
                .invalidRequest, "Another device is let in by an event of its own (event/create).")
        }
        guard let terms = state.terms, let account = terms.account else {
            throw TenantEventRoutes.notApproved
        }
        // A signature cannot be guessed: a stranger who asked knows the number, and keeps no device from answering.
        try RateCounter(self).count(.passkeyBegin)
        guard let person = try await verifiedPerson(account, for: tenant),
            let signed = signed(
                by: try await methods(of: account, for: tenant), .trustedDevice, person, tenant,
                terms.label, String(terms.signedAt.seconds), approved: isApproved)
        else { throw TenantEventRoutes.notApproved }
        let refusal = try await Commands(self).attempt(
            AnswerApproval(
                approval: id, owner: methodOwner(account, tenant), key: signed.key,
                signature: context.mint.approval(
                    context.mint.approvalNumber(
                        ofSigned: signed.message, by: signed.key, eventNumber),
                    for: tenant.client.id),
                isApproved: isApproved, now: context.clock.now()),
            as: .user(account, client: tenant.apiKey))
        switch refusal {
        case nil: return try await show(number, id, person, nil, tenant)
        case .answered: throw Problem(.invalidGrant, "The event was answered already.")
        case .notFound, .notTrusted, .signatureUsed: throw TenantEventRoutes.notApproved
        }
    }
}
