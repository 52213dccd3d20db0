internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// Which services there are: those that a person uses, those that speak certain protocols, and those at certain
/// addresses.
enum DiscoveryRoutes {
    static func table(_ registry: ServiceRegistry?) -> [Route<RealmContext>] {
        [used(registry), byProtocol(registry), byAddress(registry)]
    }

    private static let answer = Answer.ok(
        "What the services offer (RSD2).", .list(of: .openObject, 0...10_000),
        example: [
            [
                "engineName": "Moodle", "engineLink": "https://moodle.example.org/",
                "homePageLink": "https://moodle.example.org/",
                "apis": ["org.ietf.oauth2": ["apiLink": "https://moodle.example.org/oauth2"]],
            ]
        ])

    private static func used(_ registry: ServiceRegistry?) -> Route<RealmContext> {
        Route(
            .get, "/eduid/service-discovery/user", id: "listUsedServices", tag: "Federation",
            summary: "Lists the services that the person uses.",
            detail: "Those that gave a token which is alive.", right: .nothing, voice: .federation,
            answer: answer, refusals: FederationPaths.refusals
        ) { call throws(Problem) in
            let caller = try await RequestAuthorization(call).caller(.person)
            let sessions = try await FederatedDevices(call.context).sessions(
                of: try caller.account, .service)
            let clients = Set(sessions.map(\.terms.client))
            let services = try await call.services(of: try registry.present)
            return call.answer(services.filter { clients.contains($0.client.id) })
        }
    }

    private static func names(_ about: String) -> Body {
        Body(
            schema: .list(of: .text(1...2048), 0...100), example: .array([.string(about)]),
            maximumBytes: 64 * 1024)
    }

    private static func byProtocol(_ registry: ServiceRegistry?) -> Route<RealmContext> {
        Route(
            .post, "/eduid/protocol-discovery/protocol", id: "findServicesByProtocol",
            tag: "Federation", summary: "Lists the services that speak all of these protocols.",
            detail: """
                Where the realm has `unsigned_discovery`, no token is needed: links are then to be put behind homePageLink.
                """,
            right: .nothing, voice: .federation, body: names("org.ietf.oauth2"), answer: answer,
            refusals: FederationPaths.refusals
        ) { call throws(Problem) in
            let isSigned = try await call.isSignedWhereItMustBe()
            let names = try call.listedNames()
            let services = try await call.services(of: try registry.present)
            return call.answer(
                services.filter { service in
                    let offered = ServiceOffer(service, call.context.place).protocols
                    return names.allSatisfy(offered.contains)
                }, joined: !isSigned)
        }
    }

    private static func byAddress(_ registry: ServiceRegistry?) -> Route<RealmContext> {
        Route(
            .post, "/eduid/protocol-discovery/service", id: "findServicesByAddress",
            tag: "Federation", summary: "Lists the services at these addresses.",
            right: .nothing, voice: .federation, body: names("https://moodle.example.org"),
            answer: answer, refusals: FederationPaths.refusals
        ) { call throws(Problem) in
            _ = try await RequestAuthorization(call).caller(.person)
            let addresses = try call.listedNames()
            let services = try await call.services(of: try registry.present)
            let place = call.context.place
            return call.answer(
                services.filter { service in addresses.contains { service.isAt($0, in: place) } })
        }
    }
}

extension Call<RealmContext> {
    /// Whether a person's token signed the request. It must have, unless the realm tells strangers too.
    fileprivate func isSignedWhereItMustBe() async throws(Problem) -> Bool {
        if context.place.settings[SettingCatalogue.unsignedDiscovery],
            request.headers["Authorization"] == nil
        {
            try RateCounter(self).count(.oauthToken)
            return false
        }
        _ = try await RequestAuthorization(self).caller(.person)
        return true
    }

    fileprivate func listedNames() throws(Problem) -> [String] {
        let names = body.array?.compactMap(\.string) ?? []
        guard !names.isEmpty else { throw Problem(.invalidRequest, "Name at least one.") }
        return names
    }

    /// All of them as the registry has them; those are looked at again that are due.
    fileprivate func services(
        of registry: ServiceRegistry
    ) async throws(Problem) -> [FederationService] {
        let services = try await FederationServices(context).all(registry.known)
        let context = context
        registry.crawler.visit(services) { command in
            // What cannot be kept now is found once more.
            _ = try? await context.commands.attempt(
                command, in: context.place.realm, id: context.newID(),
                by: Origin(actor: "system", at: context.clock.now()))
        }
        return services
    }

    fileprivate func answer(_ services: [FederationService], joined: Bool = false) -> Response {
        let offers = services.map { ServiceOffer($0, context.place) }
        return .json(.ok, .array(offers.map { joined ? $0.joined : $0.json }))
    }
}
