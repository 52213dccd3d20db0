internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// The PIN and the device keys of a person within a tenant's apps.
enum TenantMethodRoutes {
    static let table: [Route<RealmContext>] = [change, changeOf, any, enrolled, enrolledKey]

    private static let refusals: [ProblemKind] =
        Place.refusals + [.forbidden, .invalidRequest, .invalidGrant, .rateLimited]

    static let person = Parameter(
        "id", in: .path, .text(1...255),
        "Person id, or the tenant's own id of the person.",
        example: "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10")
    static let wantsTokens = Parameter(
        "oauth_token", in: .query, .text(0...10), "Whether the response has OAuth tokens.")

    private static let changing = Body(
        schema: .object(
            .optional("method", .text(0...40), "Method: PIN, BIOMETRIC or TRUSTED_DEVICE."),
            .optional("enrolled", .boolean, "Whether the method is enrolled; false removes it."),
            .optional(
                "code", .text(0...DeviceSignature.limit),
                "PIN, or the device's public key in base64."),
            .optional(
                "algorithm", .text(0...20),
                "Algorithm of the key: ED25519, ECDSA or RSA. By default the form of the "
                    + "key decides."),
            .optional("device_type", .text(0...64), "Type of device."),
            .optional("device_name", .text(0...255), "Name of the device in the app."),
            .optional("change_code", .boolean, "Whether the PIN is changed."),
            .optional("current_code", .text(0...64), "Current PIN.")),
        example: [
            "method": "TRUSTED_DEVICE", "enrolled": true, "code": "…", "algorithm": "ED25519",
        ])

    private static let detail = """
        With an access token of that very person, who signed in a short while ago. A tenant's server may take a \
        method away, and give none.
        """

    private static let change = Route<RealmContext>(
        .put, "/api/v0/user/methods", id: "changeTenantUserMethod", tag: "Verify",
        summary: "Enrols a method of a person, or takes it away.", detail: detail,
        right: .nothing, voice: .verify,
        parameters: [
            Tenant.key, Tenant.secret,
            Parameter("cotter_user_id", in: .query, .text(0...64), "Person id."), wantsTokens,
        ], body: changing, answer: .ok("The person.", .openObject, example: ["enrolled": ["PIN"]]),
        refusals: refusals, traits: .forTenantScripts
    ) { call throws(Problem) in
        try await call.changeMethod(call.text("cotter_user_id") ?? "")
    }

    private static let changeOf = Route<RealmContext>(
        .put, "/api/v0/user/{id}", id: "changeTenantUserMethodByPath", tag: "Verify",
        summary: "Enrols a method of a person, or takes it away.", detail: detail,
        right: .nothing, voice: .verify,
        parameters: [person, Tenant.key, Tenant.secret, wantsTokens], body: changing,
        answer: .ok("The person.", .openObject, example: ["enrolled": ["PIN"]]),
        refusals: refusals, traits: .forTenantScripts
    ) { call throws(Problem) in
        try await call.changeMethod(try call.required("id"))
    }

    private static let method = Parameter(
        "method", in: .path, .text(1...40), "Method, such as TRUSTED_DEVICE.",
        example: "TRUSTED_DEVICE")

    private static let answer = Answer.ok(
        "The method, and whether it is enrolled.", .openObject,
        example: ["method": "PIN", "enrolled": true])

    private static let any = Route<RealmContext>(
        .get, "/api/v0/user/enrolled/any/{id}/{method}", id: "hasAnyTenantDevice", tag: "Verify",
        summary: "Says whether any device of a person is enrolled.", detail: whoMayKnow,
        right: .nothing, voice: .verify, parameters: [person, method, Tenant.key, Tenant.secret],
        answer: answer, refusals: Place.refusals + [.forbidden], traits: .forTenantScripts
    ) { call throws(Problem) in try await call.enrolledOfPath(key: nil) }

    private static let enrolled = Route<RealmContext>(
        .get, "/api/v0/user/enrolled/{id}/{method}", id: "hasTenantMethod", tag: "Verify",
        summary: "Says whether a person has a method enrolled.", detail: whoMayKnow,
        right: .nothing, voice: .verify, parameters: [person, method, Tenant.key, Tenant.secret],
        answer: answer, refusals: Place.refusals + [.forbidden], traits: .forTenantScripts
    ) { call throws(Problem) in try await call.enrolledOfPath(key: nil) }

    private static let enrolledKey = Route<RealmContext>(
        .get, "/api/v0/user/enrolled/{id}/{method}/{public_key}", id: "hasTenantKey",
        tag: "Verify", summary: "Says whether a device's key is enrolled for a person.",
        detail: "To each app of the tenant that knows the key: a device that waits to be let in.",
        right: .nothing, voice: .verify,
        parameters: [
            person, method,
            Parameter(
                "public_key", in: .path, .text(1...DeviceSignature.limit),
                "Public key of the device in base64url, or in base64url of its base64.",
                example: "AAAA"),
            Tenant.key, Tenant.secret,
        ],
        answer: answer, refusals: Place.refusals + [.forbidden], traits: .forTenantScripts
    ) { call throws(Problem) in
        try await call.enrolledOfPath(key: try call.required("public_key"))
    }

    private static let whoMayKnow = """
        To the tenant's server, and to an app that shows an access token of that very person. All others hear \
        `false`.
        """
}

extension Call<RealmContext> {
    /// The account that a text names: by its ID, or by the tenant's own name of the person.
    ///
    /// - Parameter own: whose access token came along. The name of a person who had it before tenants' names were
    ///   kept is found for that person alone.
    func account(named text: String, own: UUID?, _ tenant: Tenant) async throws(Problem) -> UUID? {
        if let id = UUID(text) { return id }
        guard !text.isEmpty else { return nil }
        let kept = try await RealmLookups(context).folded(
            TenantName.self, context.mint.name(text, of: tenant.client.id)
        ).account
        // What the account says counts: an administrator may have changed it, or the person is erased.
        guard let named = kept ?? own,
            try await !RealmLookups(context).folded(Account.self, named).isDeleted,
            let person = try await verifiedPerson(named, for: tenant),
            person.name(for: tenant.apiKey) == text
        else { return nil }
        return named
    }

    /// Whether a method is enrolled, to those who may know of the person; of a key to all who know the key.
    func enrolled(
        _ account: UUID?, _ method: String, key: String?, mayKnow: Bool, _ tenant: Tenant
    ) async throws(Problem) -> Response {
        var isEnrolled = false
        let shown = key.flatMap { $0.isEmpty ? nil : $0 }
        if let account, mayKnow || shown != nil,
            let person = try await verifiedPerson(account, for: tenant)
        {
            isEnrolled = person.enrolled.contains(method)
            if let shown {
                let methods = try await methods(of: account, for: tenant)
                let named = DeviceSignature.lookedUp(shown)
                isEnrolled = methods.keys.contains {
                    named.contains($0.publicKey) && $0.method.rawValue == method
                }
            }
        }
        return .json(.ok, ["method": .string(method), "enrolled": .bool(isEnrolled)])
    }

    fileprivate func enrolledOfPath(key: String?) async throws(Problem) -> Response {
        let (tenant, isServer) = try await tenantCaller()
        return try await answerTenant(tenant) { () throws(Problem) in
            let own = isServer ? nil : try await ownUser(tenant)
            let account = try await account(named: try required("id"), own: own, tenant)
            return try await enrolled(
                account, try required("method"), key: key,
                mayKnow: isServer || own != nil && own == account, tenant)
        }
    }

    fileprivate func changeMethod(_ named: String) async throws(Problem) -> Response {
        let (tenant, isServer) = try await tenantCaller()
        return try await answerTenant(tenant) { () throws(Problem) in
            guard let method = body["method"]?.string.flatMap(TenantMethod.init) else {
                throw Problem(.invalidRequest, "method must be PIN, BIOMETRIC or TRUSTED_DEVICE.")
            }
            let isTaken = body["enrolled"]?.bool == false
            if isServer, isTaken {
                guard let account = try await account(named: named, own: nil, tenant) else {
                    throw Problem(.invalidRequest, "There is no such person.")
                }
                try await remove(method, of: methodOwner(account, tenant), nil, tenant)
                return try await changed(account, nil, tenant)
            }
            let who = try await recentUser(tenant)
            guard try await account(named: named, own: who.account, tenant) == who.account else {
                throw Self.needsSignIn
            }
            try RateCounter(self).count(.twoFactor, target: who.account.description)
            let owner = methodOwner(who.account, tenant)
            if isTaken {
                try await remove(method, of: owner, who.session, tenant)
            } else if method == .pin {
                try await setPIN(owner, who.session, tenant)
            } else {
                let key = try deviceKey("code", "algorithm", method)
                let refusal = try await Commands(self).attempt(
                    EnrollDeviceKey(
                        owner: owner, key: key, session: who.session,
                        mail: context.newID(), now: context.clock.now()),
                    as: .user(who.account, client: tenant.apiKey))
                if let refusal { throw refusal.problem }
            }
            return try await changed(
                who.account, text("oauth_token") == "true" ? (who.id, who.token) : nil, tenant)
        }
    }

    /// A device's key, as members of the body have it.
    func deviceKey(
        _ member: String, _ algorithmMember: String, _ method: TenantMethod
    ) throws(Problem) -> DeviceKey {
        let text = body[member]?.string ?? ""
        let name = body[algorithmMember]?.string ?? ""
        let algorithm =
            name.isEmpty
            ? DeviceSignature.algorithm(ofKey: text) : DeviceSignature.algorithm(name)
        guard let algorithm, let key = DeviceSignature.key(text, algorithm)
        else {
            throw Problem(
                .invalidRequest,
                "\(member) must be a public key in base64: 32 bytes of Ed25519, or the "
                    + "SubjectPublicKeyInfo of P-256 for ECDSA and of 2048 to 4096 bits for RSA.")
        }
        func label(_ name: String) -> String? {
            body[name]?.string.flatMap { Names.showable(255).matches($0) ? $0 : nil }
        }
        return DeviceKey(
            id: context.newID(), method: method, algorithm: algorithm, publicKey: key,
            deviceType: label("device_type"), deviceName: label("device_name"),
            enrolledAt: context.clock.now())
    }

    private func setPIN(
        _ owner: MethodOwner, _ session: SignedIn, _ tenant: Tenant
    ) async throws(Problem) {
        let hash = try await hash(ofPIN: body["code"]?.string, of: owner.account)
        var current: PINComparison?
        if let typed = body["current_code"]?.string, !typed.isEmpty {
            try RateCounter(self).count(.passphrase, target: owner.stream.description)
            current = try await compare(
                pin: typed, of: owner.account,
                with: try await methods(of: owner.account, for: tenant))
        }
        switch try await Commands(self).attempt(
            SetPIN(
                owner: owner, hash: hash, current: current, session: session,
                mail: context.newID(), now: context.clock.now()),
            as: .user(owner.account, client: tenant.apiKey))
        {
        case .success(.set): return
        case .success(.wrongPIN): throw TenantMethodRejection.wrongPIN.problem
        case .failure(let refusal): throw refusal.problem
        }
    }

    private func remove(
        _ method: TenantMethod, of owner: MethodOwner, _ session: SignedIn?, _ tenant: Tenant
    ) async throws(Problem) {
        var key: UUID?
        if method.isKey {
            let named = DeviceSignature.lookedUp(body["code"]?.string ?? "")
            let known = try await methods(of: owner.account, for: tenant)
            guard let found = named.lazy.compactMap({ known.key($0, for: method) }).first else {
                throw TenantMethodRejection.notEnrolled.problem
            }
            key = found.id
        }
        let command = RemoveTenantMethod(
            owner: owner, key: key, session: session, now: context.clock.now())
        let refusal = try await Commands(self).attempt(
            command,
            as: session == nil
                ? .client(tenant.apiKey) : .user(owner.account, client: tenant.apiKey))
        switch refusal {
        case nil: return
        case .notWelcome? where session == nil:
            throw Problem(.invalidRequest, "There is no such person.")
        case let refusal?: throw refusal.problem
        }
    }

    /// The person as they are now. Tokens are those of the session that showed its own: a change opens none,
    /// and they are good for no longer by it.
    private func changed(
        _ account: UUID, _ shown: (session: UUID, until: Timestamp)?, _ tenant: Tenant
    ) async throws(Problem) -> Response {
        guard let person = try await verifiedPerson(account, for: tenant) else {
            throw Self.needsSignIn
        }
        guard var members = person.user(of: tenant.apiKey).object else {
            throw Problem(.internalError)
        }
        if let shown, let live = try await context.live(shown.session) {
            members["oauth_token"] = try await VerifyTokens(context, tenant).answer(
                of: shown.session, live.terms, until: shown.until, for: person)
        }
        return .json(.ok, .object(members))
    }
}
