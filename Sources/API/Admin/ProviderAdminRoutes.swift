internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// The OpenID providers whose word a realm takes on who is there.
enum ProviderAdminRoutes {
    static let table: [Route<AdminContext>] = [
        list, configure, remove, link, unlink, code, delegate,
    ]

    private static let slug = Parameter(
        "provider", in: .path, .text(1...40, Names.label), "Name of the provider in the realm.",
        example: "corporate")

    private static let shape = Shape<Provider>(
        "Provider",
        .required(
            "provider", .text(1...40), "Name of the provider in the realm.", \.slug,
            example: "corporate"),
        .required(
            "name", .text(1...60), "Display name of the provider.", \.name,
            example: "Corporate account"),
        .required(
            "issuer", .text(1...2_000), "Issuer identifier (`iss`) of the provider.", \.issuer,
            example: "https://login.example.org"),
        .required(
            "client_id", .text(1...1_024), "Client id of the realm at the provider.", \.clientID,
            example: "urd"),
        .required(
            "has_secret", "Whether the realm has a client secret at the provider.",
            { $0.secret != nil }),
        .required(
            "scope", .text(0...2_048), "Scopes that are requested beside `openid`.",
            { $0.scope.joined(separator: " ") }, example: "email"),
        .required(
            "takes_access_tokens", "Whether apps may present access tokens of the provider.",
            \.takesAccessTokens, example: false))

    private static let list = Route.whole(
        "/api/admin/realms/{realm}/providers", id: "listProviders",
        commandLine: .urd("provider list", examples: "urd provider list"), tag: "Providers",
        summary: "List the OpenID providers of a realm.", of: shape, 0...100,
        "In the order of names."
    ) { call throws(Problem) in try await call.providers().all }

    private static let configure = Route<AdminContext>(
        .put, "/api/admin/realms/{realm}/providers/{provider}", id: "configureProvider",
        commandLine: .urd(
            "provider set",
            examples:
                "urd provider set corp --name \"Acme account\" --issuer https://login.acme.example \\\n"
                + "      --client-id urd"),
        tag: "Providers", summary: "Set an OpenID provider that people may sign in with.",
        detail: """
            Signs people in once their accounts are linked to identities of the provider. Without a \
            secret the one that there is stays, as long as issuer and client are the same.
            """,
        right: .realm, parameters: [.realm, slug, .idempotencyKey],
        body: Body(
            schema: .named(
                "NewProvider",
                .object(
                    .required("name", .text(1...60), "Display name of the provider."),
                    .required(
                        "issuer", .text(1...2_000),
                        "Issuer identifier, as in the provider's discovery document."),
                    .required(
                        "client_id", .text(1...1_024), "Client id of the realm at the provider."),
                    .optional(
                        "client_secret", .text(1...1_024),
                        "Client secret of the realm at the provider; never shown again."),
                    .optional(
                        "scope", .text(0...2_048), "Scopes that are requested beside `openid`."),
                    .optional(
                        "takes_access_tokens", .boolean,
                        "Whether apps may present access tokens of the provider in place of a code."
                    ))),
            example: [
                "name": "Corporate account", "issuer": "https://login.example.org",
                "client_id": "urd", "client_secret": "a secret there",
            ]),
        answer: .written(.ok, "The provider.", shape),
        refusals: [.noSuchRealm, .realmDisabled, .invalidField]
    ) { call throws(Problem) in
        let write = call.write(in: try call.realm)
        let scope = call.body["scope"]?.string ?? ""
        let provider = Provider(
            slug: try call.required("provider"), name: call.body["name"]?.string ?? "",
            issuer: call.body["issuer"]?.string ?? "",
            clientID: call.body["client_id"]?.string ?? "",
            secret: call.body["client_secret"]?.string,
            scope: scope.split(separator: " ").map(String.init),
            takesAccessTokens: call.body["takes_access_tokens"]?.bool ?? false)
        let done = try await call.run(ProviderChange.configure(provider), as: write)
        let known = try await call.state(Providers.self, of: Providers.stream, after: done)
        guard let kept = known.state[provider.slug] else { throw Problem(.internalError) }
        return Response.json(.ok, shape.json(kept)).at(done)
    }

    private static let remove = Route<AdminContext>(
        .delete, "/api/admin/realms/{realm}/providers/{provider}", id: "removeProvider",
        commandLine: .urd("provider remove", examples: "urd provider remove corp"),
        tag: "Providers", summary: "Remove an OpenID provider.", right: .realm,
        parameters: [.realm, slug, .idempotencyKey], answer: .gone("The provider is removed."),
        refusals: [.noSuchRealm, .realmDisabled, .noSuchProvider]
    ) { call throws(Problem) in
        let write = call.write(in: try call.realm)
        let done = try await call.run(
            ProviderChange.remove(try call.required("provider")), as: write)
        return Response(status: .noContent).at(done)
    }

    private static let link = Route<AdminContext>(
        .put, "/api/admin/realms/{realm}/providers/{provider}/accounts/{account_id}",
        id: "linkIdentity",
        commandLine: .urd(
            "provider link",
            examples: "urd provider link corp ann@example.org --subject 248289761001"),
        tag: "Providers",
        summary: "Link an account to an identity at a provider.",
        detail: "Its person is told by mail. A mail address is never taken for that.",
        right: .realm, parameters: [.realm, slug, AccountRoutes.accountID, .idempotencyKey],
        body: Body(
            schema: .named(
                "NewIdentity",
                .object(
                    .required(
                        "subject", .text(1...255), "Subject (`sub`) of the person at the provider.")
                )),
            example: ["subject": "248289761001"]),
        answer: .gone("It is linked."),
        refusals: [
            .noSuchRealm, .realmDisabled, .noSuchProvider, .noSuchAccount, .identityTaken,
        ]
    ) { call throws(Problem) in
        let write = call.write(in: try call.realm)
        let account = try call.requiredID("account_id")
        let slug = try call.required("provider")
        try await call.knownRealm()
        guard let provider = try await call.providers()[slug] else {
            throw Problem(.noSuchProvider)
        }
        let mint = try await call.mint(of: write.realm)
        let subject = call.body["subject"]?.string ?? ""
        let done = try await call.run(
            LinkIdentity(
                identity: mint.identity(subject, at: provider.issuer),
                place: mint.accountIdentity(account, at: provider.slug), account: account,
                provider: provider.slug, subject: subject, mail: write.newID("mail")), as: write
        ) { rejection in
            switch rejection {
            case .providerNotFound: Problem(.noSuchProvider)
            case .accountNotFound: Problem(.noSuchAccount)
            case .linkedElsewhere: Problem(.identityTaken)
            }
        }
        return Response(status: .noContent).at(done)
    }

    private static let unlink = Route<AdminContext>(
        .delete, "/api/admin/realms/{realm}/providers/{provider}/accounts/{account_id}",
        id: "unlinkIdentity",
        commandLine: .urd("provider unlink", examples: "urd provider unlink corp ann@example.org"),
        tag: "Providers",
        summary: "Unlink an account from an identity at a provider.", right: .realm,
        parameters: [.realm, slug, AccountRoutes.accountID, .idempotencyKey],
        answer: .gone("The identity is unlinked."),
        refusals: [.noSuchRealm, .realmDisabled, .noSuchProvider]
    ) { call throws(Problem) in
        let write = call.write(in: try call.realm)
        let account = try call.requiredID("account_id")
        let slug = try call.required("provider")
        let mint = try await call.mint(of: write.realm)
        let done = try await call.run(
            UnlinkIdentity(
                place: mint.accountIdentity(account, at: slug), account: account, provider: slug),
            as: write
        ) { rejection in
            switch rejection {
            case .notLinked:
                Problem(
                    .noSuchProvider, "The account is not linked to an identity at this provider.")
            }
        }
        return Response(status: .noContent).at(done)
    }

    private static let code = delegation(
        "/api/admin/realms/{realm}/providers/{provider}/code", id: "createDelegatedCode",
        commandLine: .urd(
            "provider code",
            examples: "urd provider code corp --access-token SlAV32hkKG --realm flagship"),
        "Create a code for an app from a token of a provider.")
    /// As clients of the flagship profile's servers know it.
    private static let delegate = delegation(
        "/oidc/{realm}/{provider}/code", id: "delegateCode",
        commandLine: .urd(
            "provider delegate",
            examples: "urd provider delegate corp --access-token SlAV32hkKG --realm flagship"),
        "Create a code for an app, at the address that the flagship profile uses.")

    private static func delegation(
        _ path: PathTemplate, id: String, commandLine: CommandWords, _ summary: String
    ) -> Route<AdminContext> {
        Route(
            .post, path, id: id, commandLine: commandLine, tag: "Providers",
            summary: summary,
            detail: """
                For a realm of the flagship profile. The ID token is verified, and the provider asked \
                whose the access token is; where both are shown they are one person's. `generic` \
                stands for the first provider.
                """,
            right: .realm, parameters: [.realm, slug, .idempotencyKey],
            body: Body(
                schema: .named(
                    "ProviderTokens",
                    .object(
                        .optional(
                            "access_token", .text(1...8_192), "Access token of the provider."),
                        .optional("id_token", .text(1...16_384), "ID token of the provider."))),
                example: ["access_token": "SlAV32hkKG"]),
            answer: Answer.written(
                .ok, "What the provider says of him, and the code.", .openObject,
                example: [
                    "sub": "248289761001", "delegated_code": "AZOg514MgACQAC9rHB2aEMKl1PNoSu3x",
                ]),
            refusals: [
                .noSuchRealm, .realmDisabled, .noSuchProvider, .invalidGrant, .providerUnreachable,
            ]
        ) { call throws(Problem) in
            let write = call.write(in: try call.realm)
            try await call.knownRealm()
            let provider = try await call.namedProvider()
            let person = try await call.person(at: provider, now: write.origin.at)
            let mint = try await call.mint(of: write.realm)
            let code = write.newID("delegated code")
            var terms = DelegatedCodeTerms(
                identity: mint.identity(person.subject, at: provider.issuer),
                upstream: person.session.map {
                    mint.upstreamSession($0, at: provider.issuer)
                }, upstreamName: person.session, provider: provider.slug,
                expiresAt: write.origin.at.adding(seconds: DelegatedCode.lifetime))
            if let signed = person.issuedAt {
                terms.stamp = try await StampsByTime(call.context.commands, in: write.realm)
                    .stamp(ofIdentity: terms.identity, at: signed)
            }
            let done = try await call.run(IssueDelegatedCode(code: code, terms: terms), as: write)
            var members = person.claims
            members["sub"] = .string(person.subject)
            members["delegated_code"] = .string(mint.delegatedCode(code))
            return Response.json(.ok, .object(members)).at(done)
        }
    }
}

extension Call<AdminContext> {
    func providers() async throws(Problem) -> Providers {
        try await configuration(Providers.self, of: Providers.stream)
    }

    fileprivate func namedProvider() async throws(Problem) -> Provider {
        let known = try await providers()
        let slug = try required("provider")
        guard let provider = known[slug] ?? (slug == "generic" ? known.all.first : nil) else {
            throw Problem(.noSuchProvider)
        }
        return provider
    }

    /// Whom the tokens in the body are about. Both of them, where there are two.
    fileprivate func person(
        at provider: Provider, now: Timestamp
    ) async throws(Problem) -> UpstreamPerson {
        let refused = Problem(.invalidGrant, "The tokens are not good for this provider.")
        guard let metadata = await context.upstream.metadata(of: provider.issuer) else {
            throw Problem(
                .providerUnreachable,
                "\(provider.issuer) shows no metadata (OpenID Connect Discovery).")
        }
        var found: [UpstreamPerson] = []
        if let text = body["id_token"]?.string {
            guard
                let person = await context.upstream.check(
                    text, of: provider, metadata, nonce: nil, at: now)
            else { throw refused }
            found.append(person)
        }
        if let text = body["access_token"]?.string {
            guard let person = await context.upstream.userInfo(text, metadata) else {
                throw refused
            }
            found.append(person)
        }
        guard let first = found.first,
            found.allSatisfy({ $0.subject.utf8.elementsEqual(first.subject.utf8) })
        else { throw refused }
        return UpstreamPerson(
            subject: first.subject, session: found.compactMap(\.session).first,
            issuedAt: found.compactMap(\.issuedAt).first,
            claims: found.reduce(into: [:]) { $0.merge($1.claims) { own, _ in own } })
    }
}

extension ProviderChange.ConfigureRejection: Refusal {
    var problem: Problem {
        switch self {
        case .invalid(let fault): Problem(of: fault)
        case .tooMany(let limit):
            Problem(.invalidField, "There may be \(limit) providers.", field: "provider")
        }
    }
}

extension IssueDelegatedCode.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .providerNotFound: Problem(.noSuchProvider)
        }
    }
}
