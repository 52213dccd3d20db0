internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import Mail
internal import PhoneNumbers
internal import ReadModels
internal import Values

/// How a person gets another PIN who does not know the old one: with a code that is sent to their address.
enum PINResetRoutes {
    static let table: [Route<RealmContext>] = [request, start, verify, respond, notifications]

    private static let refusals: [ProblemKind] =
        Place.refusals + [.forbidden, .invalidRequest, .invalidGrant, .rateLimited]

    private static let sent = Answer.ok(
        "A code is on its way, if there is such a person.", .openObject,
        example: ["success": true, "challenge_id": 4711, "challenge": "4711"])

    private static let request = Route<RealmContext>(
        .post, "/api/v0/user/reset/request/{id}", id: "requestPINReset", tag: "Verify",
        summary: "Has a code sent that resets a person's PIN, for a tenant's server.",
        right: .nothing, voice: .verify,
        parameters: [TenantMethodRoutes.person, Tenant.key, Tenant.secret],
        body: Body(schema: .object([]), example: [:]), answer: sent, refusals: refusals
    ) { call throws(Problem) in try await call.sendResetCode(try await call.tenantServer()) }

    private static let start = Route<RealmContext>(
        .post, "/api/v0/user/reset/start/{id}", id: "startPINReset", tag: "Verify",
        summary: "Has a code sent that resets a person's PIN.",
        detail: "The answer is the same for people whom there are not.", right: .nothing,
        voice: .verify, parameters: [TenantMethodRoutes.person, Tenant.key],
        body: Body(
            schema: .object(.optional("method", .text(0...40), "Method to reset; always PIN.")),
            example: ["method": "PIN"]), answer: sent, refusals: refusals,
        traits: .forTenantScripts
    ) { call throws(Problem) in
        try await call.answerTenantApp { tenant throws(Problem) in
            try await call.sendResetCode(tenant)
        }
    }

    private static let proving = Body(
        schema: .object(
            .optional("method", .text(0...40), "Method to reset; always PIN."),
            .optional("reset_code", .text(0...64), "Reset code that was sent."),
            .optional(
                "challenge_id", .anything, "Challenge id (an integer) that came with the code."),
            .optional("challenge", .text(0...255), "Challenge, which is ignored."),
            .optional("new_code", .text(0...64), "New PIN."),
            .optional(
                "code", .text(0...64), "New PIN, under another name; `new_code` takes precedence.")),
        example: ["reset_code": "123456", "challenge_id": 4711, "new_code": "4827"])

    private static let done = Answer.ok(
        "The code is valid, or the PIN is reset.", .openObject, example: ["success": true])

    private static let verify = Route<RealmContext>(
        .post, "/api/v0/user/reset/verify/{id}", id: "verifyPINReset", tag: "Verify",
        summary: "Says whether a reset code is right. It stays good; a wrong one is a guess.",
        right: .nothing, voice: .verify, parameters: [TenantMethodRoutes.person, Tenant.key],
        body: proving, answer: done, refusals: refusals, traits: .forTenantScripts
    ) { call throws(Problem) in
        try await call.answerTenantApp { tenant throws(Problem) in
            try await call.reset(tenant, sets: false)
        }
    }

    private static let respond = Route<RealmContext>(
        .post, "/api/v0/user/reset/respond/{id}", id: "resetPIN", tag: "Verify",
        summary: "Sets another PIN. The code is used up.", right: .nothing, voice: .verify,
        parameters: [TenantMethodRoutes.person, Tenant.key], body: proving, answer: done,
        refusals: refusals, traits: .forTenantScripts
    ) { call throws(Problem) in
        try await call.answerTenantApp { tenant throws(Problem) in
            try await call.reset(tenant, sets: true)
        }
    }

    private static let notifications = Route<RealmContext>(
        .get, "/api/v0/notification/company", id: "getTenantNotifications", tag: "Verify",
        summary: "Says by which push service a tenant's apps are told of events: none, they ask.",
        right: .nothing, voice: .verify, parameters: [Tenant.key],
        answer: .ok("No push service.", .openObject, example: ["app_id": ""]),
        refusals: Place.refusals + [.forbidden], traits: .forTenantScripts
    ) { call throws(Problem) in
        try await call.answerTenantApp { tenant throws(Problem) in
            let first = try await RealmLookups(call.context).events(of: tenant.client.id).first
            guard let first else { throw Call<RealmContext>.unknownKey }
            let registered = JSON.string(first.at.description)
            return .json(
                .ok,
                [
                    "ID": .string(tenant.apiKey), "company_id": .string(tenant.apiKey),
                    "app_id": "", "created_at": registered, "updated_at": registered,
                    "update_at": registered, "deleted_at": .string(Timestamp.never),
                ])
        }
    }
}

extension Call<RealmContext> {
    private static var notGood: Problem {
        Problem(.invalidGrant, "The code is wrong or has expired.")
    }

    /// The person's address as codes go there.
    private func address(of person: VerifiedPerson) -> SignInAddress? {
        SignInAddress(typed: person.address, context.place.settings)
    }

    fileprivate func sendResetCode(_ tenant: Tenant) async throws(Problem) -> Response {
        let named = try required("id")
        let account = try await account(named: named, own: nil, tenant)
        let counter = RateCounter(self)
        // Who asked for so many that no other one is sent may have been a stranger: the person has those.
        let allows = try counter.allows { () throws(Problem) in
            try counter.count(.verifyCode, target: "reset \(named.prefix(64))")
        }
        async let pause: Void = context.hesitate()
        if allows, let account, let person = try await verifiedPerson(account, for: tenant),
            let address = address(of: person)
        {
            // The limit counts by number: an answer that tells of it would tell the caller whose number it is.
            let isWithin = if address.isPhone { try counts(address) } else { true }
            if isWithin {
                try await BrowserSignIns(self).sendCode(
                    .pinReset, address.person(language: nil),
                    by: address.channel(context.place.settings), mayJoin: false,
                    app: tenant.client.metadata.appID)
            }
        }
        await pause
        let number = context.mint.resetNumber(of: named, for: tenant.client.id)
        // Apps send both back, and some of them insist on a text.
        return .json(
            .ok,
            [
                "success": true, "challenge_id": .integer(number),
                "challenge": .string(String(number)),
            ])
    }

    /// Whether the limits of messages let one more go there.
    private func counts(_ address: SignInAddress) throws(Problem) -> Bool {
        do throws(Problem) {
            try RateCounter(self).countCode(to: address, context.mint.mailbox(address.text))
            return true
        } catch {
            guard error.kind == .rateLimited else { throw error }
            return false
        }
    }

    fileprivate func reset(_ tenant: Tenant, sets: Bool) async throws(Problem) -> Response {
        let named = try required("id")
        let counter = RateCounter(self)
        try counter.count(
            .emailOTPVerify, target: counter.atBlock("reset \(named.prefix(64))"))
        let number = body["challenge_id"].flatMap {
            $0.integer ?? $0.string.flatMap { Int64($0) }
        }
        if let number, number != context.mint.resetNumber(of: named, for: tenant.client.id) {
            throw Self.notGood
        }
        let typed = (body["reset_code"]?.string ?? "").filter { $0 != " " }
        let account = try await account(named: named, own: nil, tenant)
        // It takes as long for people whom there are not.
        let hash =
            sets
            ? try await hash(
                ofPIN: body["new_code"]?.string ?? body["code"]?.string, of: account ?? .zero) : nil
        guard let account, let person = try await verifiedPerson(account, for: tenant),
            let address = address(of: person)
        else { throw Self.notGood }
        let mailbox = context.mint.mailbox(address.text)
        let command = ResetPIN(
            owner: methodOwner(account, tenant), mailbox: mailbox,
            shown: context.mint.shown { $0.digest(ofCode: typed, for: mailbox) }, hash: hash,
            app: tenant.client.metadata.appID ?? context.place.app, mail: context.newID(),
            now: context.clock.now())
        switch try await Commands(self).attempt(command, as: .client(tenant.apiKey)) {
        case .success(.done): return .json(.ok, ["success": true])
        case .success(.wrongCode), .failure: throw Self.notGood
        }
    }
}
