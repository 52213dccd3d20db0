internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// The other apps that a person let in at services, from any of their devices.
enum FederatedAppRoutes {
    static func table(_ registry: ServiceRegistry?) -> [Route<RealmContext>] {
        [list(registry), end]
    }

    private static let shape = Shape<AppAtService>(
        .required("id", .text(36...36), "Permission id.", \.session.id, example: UUID.example),
        .required(
            "app_id", .text(0...255), "App id, as the app reports it.",
            { $0.session.terms.federation?.application ?? "" }, example: "org.example.notes"),
        .required(
            "client_id", .text(1...255), "Client id of the service that the app may use.",
            \.session.terms.clientID, example: "moodle"),
        .optional(
            "service", .text(0...2048), "Address of the service.", \.service?.address,
            example: "https://moodle.example.org"),
        .optional(
            "service_name", .text(0...200), "Name of the service.",
            \.service?.client.metadata.clientName, example: "Moodle"),
        .required(
            "scope", .text(0...2048), "Protocols that the app may use at the service.",
            { $0.session.terms.scope.joined(separator: " ") }, example: "org.example.notes"),
        .optional(
            "device", .text(36...36), "Device on which the app was authorized.",
            \.session.terms.federation?.device, example: "0193a0e7-5e0c-8000-9000-2f6b1c1d9a11"),
        .required(
            "authorized_at", .integer(0...(1 << 53 - 1)),
            "Authorization time, in seconds since 1970.", \.session.openedAt.seconds,
            example: 1_790_000_000),
        .required(
            "last_used_at", .integer(0...(1 << 53 - 1)),
            "Time of the last token refresh, in seconds since 1970.", \.session.lastUsedAt.seconds,
            example: 1_790_000_000),
        .required("current", "Whether the app is on the calling device.", \.isOwn),
        .optional(
            "resting", "Whether the tokens are suspended; they may become valid again.",
            { $0.rests ? true : nil }))

    private static func list(_ registry: ServiceRegistry?) -> Route<RealmContext> {
        Route(
            .get, "/eduid/apps", id: "listFederatedApps", tag: "Federation",
            summary:
                "Lists the other apps that the person let in, with the services that they use.",
            right: .nothing, voice: .federation, parameters: FederatedPage.parameters,
            answer: Answer(
                status: .ok, description: "The apps, by service.",
                content: .json(
                    .list(of: shape.schema, 0...FederatedPage.most), example: [shape.example]),
                headers: [("Link", "URL of the next page, if there is one.")]),
            refusals: FederationPaths.refusals
        ) { call throws(Problem) in
            let caller = try await RequestAuthorization(call).caller(.person)
            let (page, context) = (FederatedPage(call), call.context)
            let sessions = try await RealmLookups(context).heldSessions(
                of: try caller.account, page
            ) { $0.terms.federation?.holder == .application }
            let services = try await FederationServices(context).all(registry.present.known)
            let own = caller.token.device
            let apps = try await RealmLookups(context).each(
                try await RealmLookups(context).lasting(sessions.items)
            ) {
                session throws(Problem) in
                shape.json(
                    AppAtService(
                        session: session,
                        service: services.first { $0.client.id == session.terms.client },
                        isOwn: session.terms.federation?.device == own,
                        rests: try await context.live(session.id) == nil))
            }
            var response = Response.json(.ok, .array(apps))
            if let (name, value) = page.link("/eduid/apps", to: sessions.next) {
                response.headers.append(name, value)
            }
            return response
        }
    }

    private static let end = Route<RealmContext>(
        .delete, "/eduid/apps/{id}", id: "endFederatedApp", tag: "Federation",
        summary: "Takes back what the person let an app do at a service.",
        detail: "Its tokens end. The app at the service, and on other services, goes on.",
        right: .nothing, voice: .federation,
        parameters: [
            Parameter(
                "id", in: .path, .text(36...36, Names.uuid), "Permission id.",
                example: "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10")
        ],
        answer: .done("The permission is revoked."),
        refusals: FederationPaths.refusals + [.noSuchSession]
    ) { call throws(Problem) in
        let caller = try await RequestAuthorization(call).caller(.person)
        let (account, id) = (try caller.account, try call.requiredID("id"))
        // Found by its name and in no list, so that none is too far down to be ended.
        guard let session = try await call.context.lasting(id),
            session.terms.federation?.holder == .application, session.terms.account == account,
            try await Commands(call).attempt(
                EndSession(session: id, reason: .revoked, of: account), as: caller.commandCaller)
                == nil
        else { throw Problem(.noSuchSession, "The person has let in no such app.") }
        return Response(status: .noContent)
    }
}

/// What a person let an app do at a service.
private struct AppAtService {
    let session: OpenSessionView
    let service: FederationService?
    let isOwn: Bool
    let rests: Bool
}
