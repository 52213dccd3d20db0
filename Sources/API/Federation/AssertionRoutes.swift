internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// Where the app gets assertions for services, and where services ask about them.
enum AssertionRoutes {
    static func table(_ registry: ServiceRegistry?) -> [Route<RealmContext>] { [issue(registry)] }

    private static func issue(_ registry: ServiceRegistry?) -> Route<RealmContext> {
        Route(
            .post, "/eduid/authorization", id: "issueFederatedAssertion", tag: "Federation",
            summary: "Issues an assertion by which the app shows its person to one service, once.",
            right: .nothing, voice: .federation,
            body: Body(
                schema: .object(
                    .optional("request_type", .anything, "Response type; always `code`."),
                    .optional("redirect_uri", .anything, "Address of the service."),
                    .optional(
                        "client_id", .anything,
                        "Client id of the app's version, or the device itself."),
                    .optional("state", .anything, "Value that is returned with the assertion.")),
                example: [
                    "request_type": "code", "redirect_uri": "https://service.example.org",
                    "client_id": "ch.eduid.app.1",
                ], maximumBytes: 64 * 1024),
            answer: .ok(
                "The assertion.",
                .object(
                    .required(
                        "code", .text(1...16384),
                        "Assertion (JWT), which the app passes on unchanged."),
                    .required("redirect_uri", .text(1...2048), "Token endpoint of the service."),
                    .optional("state", .text(0...2048), "The `state` of the request.")),
                example: ["code": "…", "redirect_uri": "https://service.example.org/token"]),
            refusals: FederationPaths.refusals + [.noSuchClient, .notImplemented]
        ) { call throws(Problem) in
            let caller = try await RequestAuthorization(call).caller(.person)
            try RateCounter(call).count(.oauthToken, heldBy: "session \(caller.session.id)")
            guard try call.requireMember("request_type") == "code" else {
                throw Problem(.invalidRequest, "request_type must be code.")
            }
            let party = try call.party(of: caller)
            let services = FederationServices(call.context)
            let address = try call.requireMember("redirect_uri")
            guard
                let service = try await services.find(
                    at: address, among: try registry.present.known)
            else {
                throw Problem(.noSuchClient, "There is no such service.")
            }
            return try await call.issue(for: service, caller, party)
        }
    }
}

extension Call<RealmContext> {
    /// By whom the assertion says that it is shown (`azp`): the app's version, or the device, where that was named.
    /// Services take later requests of the `iss` alone that `azp` was.
    fileprivate func party(of caller: FederatedCaller) throws(Problem) -> String {
        let version = caller.session.terms.clientID
        guard let named = member("client_id"), named != version else { return version }
        guard let device = caller.token.device, context.mint.federatedDevice(named) == device else {
            throw Problem(
                .forbidden,
                "client_id is neither the app's version nor the device that the token is of.")
        }
        return named
    }

    fileprivate func issue(
        for service: FederationService, _ caller: FederatedCaller, _ party: String
    ) async throws(Problem) -> Response {
        let (id, now) = (TokenMint.newKeyID(), context.clock.now())
        guard
            let person = try await FederatedPerson.find(
                try caller.account, in: context, since: caller.began)
        else { throw Problem(.forbidden) }
        let lifetime = IssueFederatedAssertion.longest
        // What cannot be written must not be on record as issued.
        let text = try await AssertionText(context).make(
            of: person, id: id, azp: party, for: service, issuedAt: now, lifetime: lifetime)
        var command = IssueFederatedAssertion(
            assertion: context.mint.federatedAssertion(id), session: caller.session.id,
            service: service.client.id, audience: context.place.endpoint(of: service),
            lifetime: lifetime, now: now)
        if party != caller.session.terms.clientID { command.deviceName = party }
        let rejection = try await Commands(self).attempt(command, as: caller.commandCaller)
        switch rejection {
        case nil: break
        case .noSuchService: throw Problem(.noSuchClient, "There is no such service.")
        case .signedOut: throw Problem(.forbidden)
        case .used: throw Problem(.contended)
        }
        var members: JSONObject = [
            "code": .string(text), "redirect_uri": .string(context.place.endpoint(of: service)),
        ]
        members["state"] = member("state").map { .string($0) }
        return .json(.ok, .object(members))
    }

    /// Whom an assertion shows: told to the service alone that it was issued for.
    func validateAssertion() async throws(Problem) -> Response {
        let began = ContinuousClock.now
        let service = try await ServiceAuthentication(self).service()
        let notThere = Problem(.noSuchSession, "No such assertion was issued for this service.")
        guard let id = member("jti"), id.utf8.count == TokenMint.keyIDLength else { throw notThere }
        let terms = try await RealmLookups(context).folded(
            FederatedAssertion.self, context.mint.federatedAssertion(id)
        ).terms
        guard let terms, terms.service == service.client.id,
            context.clock.now() < terms.expiresAt,
            try await context.live(terms.session) != nil,
            let person = try await FederatedPerson.find(
                terms.account, in: context, since: began)
        else { throw notThere }
        return .json(
            .ok,
            [
                "sub": .string(person.subject), "azp": .string(terms.deviceName ?? terms.party),
                "iat": .integer(terms.issuedAt.seconds), "email": .string(person.subject),
            ])
    }
}
