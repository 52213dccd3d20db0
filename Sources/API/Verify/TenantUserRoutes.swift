internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import Mail
internal import PhoneNumbers
internal import ReadModels
internal import Values

/// The people of a tenant's realm, as its servers and apps ask for them.
enum TenantUserRoutes {
    static let table: [Route<RealmContext>] = [create, get, getOf, list, methods, company]

    private static let create = Route<RealmContext>(
        .post, "/api/v0/user/create", id: "createTenantUser", tag: "Verify",
        summary: "Registers a person whose address is not proved yet.",
        detail: """
            With `identifiers` and `client_user_id` for a tenant's server alone. How often an app may ask \
            is limited as codes are, because the answer tells whether the address is known.
            """,
        right: .nothing, voice: .verify, parameters: [Tenant.key, Tenant.secret],
        body: Body(
            schema: .object(
                .optional("identifier", .text(0...320), "Mail address or phone number."),
                .optional(
                    "identifiers", .list(of: .text(0...320), 0...10),
                    "Mail address or phone number, as a list of one."
                ),
                .optional("client_user_id", .text(0...255), "The tenant's own id of the person.")
            ), example: ["identifier": "ann@example.org"]),
        answer: .ok("The person.", .openObject, example: [:]),
        refusals: Place.refusals + [.forbidden, .invalidRequest, .rateLimited],
        traits: .forTenantScripts
    ) { call throws(Problem) in
        let (tenant, isServer) = try await call.tenantCaller(
            asServer: call.body["identifiers"] != nil || call.ownName != nil)
        return try await call.answerTenant(tenant) { () throws(Problem) in
            try await call.createUser(tenant, isServer: isServer)
        }
    }

    private static let whoMayKnow = """
        To the tenant's server, and to an app that shows an access token of that very person. All others hear \
        of no person, whether there is such a person or not.
        """
    private static let oneOrNobody = Answer.ok(
        "The person, or one whose ID is all zeros.", .openObject,
        example: ["ID": "00000000-0000-0000-0000-000000000000"])

    private static let get = Route<RealmContext>(
        .get, "/api/v0/user", id: "getTenantUser", tag: "Verify",
        summary: "Shows a person by their address.",
        detail: whoMayKnow,
        right: .nothing, voice: .verify,
        parameters: [
            Tenant.key, Tenant.secret,
            Parameter("identifier", in: .query, .text(0...320), "Mail address or phone number."),
        ],
        answer: oneOrNobody,
        refusals: Place.refusals + [.forbidden], traits: .forTenantScripts
    ) { call throws(Problem) in
        let (tenant, isServer) = try await call.tenantCaller()
        return try await call.answerTenant(tenant) { () throws(Problem) in
            let typed = call.text("identifier") ?? ""
            let found = try await call.findUser(typed)
            let own = isServer ? found : try await call.ownUser(tenant)
            let kind: VerifyRequest.Kind = typed.contains("@") ? .email : .phone
            guard let found, own == found,
                let person = try await call.verifiedPerson(found, for: tenant, scope: [kind.scope])
            else {
                return .json(.ok, VerifiedPerson.nobody.user(of: tenant.apiKey))
            }
            return .json(.ok, person.user(of: tenant.apiKey))
        }
    }

    private static let getOf = Route<RealmContext>(
        .get, "/api/v0/user/{id}", id: "getTenantUserByPath", tag: "Verify",
        summary: "Shows a person by their ID, or by the tenant's own name of them.",
        detail: whoMayKnow,
        right: .nothing, voice: .verify,
        parameters: [TenantMethodRoutes.person, Tenant.key, Tenant.secret],
        answer: oneOrNobody,
        refusals: Place.refusals + [.forbidden], traits: .forTenantScripts
    ) { call throws(Problem) in
        let (tenant, isServer) = try await call.tenantCaller()
        return try await call.answerTenant(tenant) { () throws(Problem) in
            let own = isServer ? nil : try await call.ownUser(tenant)
            let found = try await call.account(named: try call.required("id"), own: own, tenant)
            guard let found, isServer || own == found,
                let person = try await call.verifiedPerson(found, for: tenant)
            else {
                return .json(.ok, VerifiedPerson.nobody.user(of: tenant.apiKey))
            }
            return .json(.ok, person.user(of: tenant.apiKey))
        }
    }

    private static let list = Route<RealmContext>(
        .get, "/api/v0/user/list", id: "listTenantUsers", tag: "Verify",
        summary: "Lists the people of the realm to a tenant's server, the newest first.",
        right: .nothing, voice: .verify,
        parameters: [
            Tenant.key, Tenant.secret,
            Parameter(
                "page", in: .query, .text(0...10), "Page number from 0 on; 50 people a page."),
        ],
        answer: .ok(
            "The people.", .list(of: .openObject, 0...50), example: []),
        refusals: Place.refusals + [.forbidden, .invalidRequest]
    ) { call throws(Problem) in
        let tenant = try await call.tenantServer()
        guard let page = Int(call.text("page") ?? "0"), (0...20_000).contains(page) else {
            throw Problem(.invalidRequest, "page must be a number from 0 to 20000.")
        }
        let found = try await call.context.ask(AccountView.newest, (page * 50, 50))
        var people: [JSON] = []
        for account in found {
            if let person = try await call.verifiedPerson(account.id, for: tenant) {
                people.append(person.user(of: tenant.apiKey))
            }
        }
        return .json(.ok, .array(people))
    }

    private static let methods = Route<RealmContext>(
        .get, "/api/v0/user/methods", id: "getTenantUserMethod", tag: "Verify",
        summary: "Says whether a person can sign in by a method.", right: .nothing,
        voice: .verify,
        parameters: [
            Tenant.key, Tenant.secret,
            Parameter("cotter_user_id", in: .query, .text(0...64), "Person id."),
            Parameter("method", in: .query, .text(0...40), "Method, such as WEBAUTHN."),
            Parameter(
                "public_key", in: .query, .text(0...DeviceSignature.limit),
                "Public key of the device in base64, or in base64 of its base64."),
        ],
        answer: .ok("The method.", .openObject, example: ["method": "WEBAUTHN", "enrolled": true]),
        refusals: Place.refusals + [.forbidden, .invalidRequest], traits: .forTenantScripts
    ) { call throws(Problem) in
        let (tenant, isServer) = try await call.tenantCaller()
        return try await call.answerTenant(tenant) { () throws(Problem) in
            guard let id = call.text("cotter_user_id").flatMap({ UUID($0) }),
                let method = call.text("method"), !method.isEmpty
            else {
                throw Problem(.invalidRequest, "cotter_user_id and method are required.")
            }
            let own = isServer ? id : try await call.ownUser(tenant)
            return try await call.enrolled(
                id, method, key: call.text("public_key"), mayKnow: own == id, tenant)
        }
    }

    private static let company = Route<RealmContext>(
        .get, "/api/v0/company/info/{api_key}", id: "getTenantInfo", tag: "Verify",
        summary: "Says how a tenant presents itself.", right: .nothing, voice: .verify,
        parameters: [Tenant.pathKey],
        answer: .ok("The tenant.", .openObject, example: ["name": "Shop"]),
        refusals: Place.refusals + [.forbidden], traits: .forTenantScripts
    ) { call throws(Problem) in
        let tenant = try await call.tenant(try call.required("api_key"))
        return try await call.answerTenant(tenant) { () throws(Problem) in
            let settings = call.context.place.settings
            return .json(
                .ok,
                [
                    "api_key_id": .string(tenant.apiKey),
                    "name": .string(tenant.name ?? settings[SettingCatalogue.displayName]),
                    "logo": .string(settings[SettingCatalogue.logoURL] ?? ""),
                ])
        }
    }
}

extension Call<RealmContext> {
    /// The tenant's own name of the person. An empty text is no name.
    fileprivate var ownName: String? {
        body["client_user_id"]?.string.flatMap { $0.isEmpty ? nil : $0 }
    }

    fileprivate func createUser(
        _ tenant: Tenant, isServer: Bool
    ) async throws(Problem) -> Response {
        let listed = body["identifiers"]?.array?.compactMap(\.string) ?? []
        guard listed.count < 2 else {
            throw Problem(.invalidRequest, "A person has one identifier here.")
        }
        let typed = body["identifier"]?.string ?? listed.first ?? ""
        guard let address = SignInAddress(typed: typed, context.place.settings) else {
            throw Problem(
                .invalidRequest, "identifier is no mail address or phone number that is taken here."
            )
        }
        let mailbox = context.mint.mailbox(address.text)
        if !isServer {
            // By what its apps know, a tenant does no more than any person who proves an address.
            guard context.place.settings[SettingCatalogue.registration] == .jitOnOTP else {
                throw Problem(.forbidden, "This realm registers no person by the API key alone.")
            }
            // Apart from the codes to this address, which are others' to ask for.
            let counter = RateCounter(self)
            try counter.count(.verifyCode, target: counter.atBlock("person \(mailbox)"))
            guard RateCounter(self).allowsSignUp() else { throw Problem(.rateLimited) }
        }
        let own = ownName
        // A name in the form of an account's ID could be taken for that account.
        if let own, own.utf8.count > 60 || UUID(own) != nil {
            throw Problem(
                .invalidRequest, "client_user_id is a name of your own of at most 60 characters.")
        }
        var person = address.person(language: nil)
        person.externalID = own.map { tenant.apiKey + ":" + $0 }
        let account = context.newID()
        var refusal: RegisterNamedPerson.Rejection?
        if let own {
            refusal = try await Commands(self).attempt(
                RegisterNamedPerson(
                    account: account, addresses: Addresses(mailbox: mailbox), person: person,
                    name: context.mint.name(own, of: tenant.client.id),
                    client: tenant.client.id), as: .client(tenant.apiKey))
        } else {
            refusal = try await Commands(self).attempt(
                RegisterAccount(
                    account: account, addresses: Addresses(mailbox: mailbox), person: person,
                    isConfirmed: false), as: .client(tenant.apiKey)
            ).map { .notRegistered($0) }
        }
        switch refusal {
        case nil: break
        case .nameTaken, .notRegistered(.idTaken), .notRegistered(.mailboxTaken):
            throw Problem(.invalidRequest, "User already exists")
        case .notRegistered(.invalid):
            throw Problem(.invalidRequest, "client_user_id is not valid.")
        }
        guard let made = try await verifiedPerson(account, for: tenant) else {
            throw Problem(.internalError)
        }
        return .json(.ok, made.user(of: tenant.apiKey))
    }

    /// The account of an address, in whichever form it is typed.
    func findUser(_ typed: String) async throws(Problem) -> UUID? {
        guard let address = SignInAddress(typed: typed, context.place.settings) else { return nil }
        let mailbox = context.mint.mailbox(address.text)
        return try await context.ask(AccountView.byMailbox, mailbox)?.id
    }

    /// Whose access token of the tenant's app came along.
    func ownUser(_ tenant: Tenant) async throws(Problem) -> UUID? {
        try await ownSession(tenant)?.session.terms.account
    }
}
