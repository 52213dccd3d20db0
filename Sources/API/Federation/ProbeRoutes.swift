internal import HTTP
internal import Identity
internal import JSON

/// What clients ask to find out whether the service is there.
enum ProbeRoutes {
    static let table: [Route<RealmContext>] = [probe, unknown("get", .get), unknown("post", .post)]

    private static let nothing = Answer(
        status: .ok, description: "No content; the route always refuses.", content: .nothing)

    private static let probe = Route<RealmContext>(
        .get, "/eduid", id: "probeFederation", tag: "Federation",
        summary: "Refuses: clients take 403 for the sign that the service is here.",
        right: .nothing, voice: .federation, answer: nothing,
        refusals: Place.refusals + [.forbidden]
    ) { _ throws(Problem) in
        throw Problem(.forbidden, "Ask for one of the services below this address.")
    }

    private static func unknown(_ name: String, _ method: Method) -> Route<RealmContext> {
        Route(
            method, "/eduid/{service}", id: "\(name)UnknownFederationService", tag: "Federation",
            summary: "Refuses what is no service here.", right: .nothing, voice: .federation,
            parameters: [
                Parameter(
                    "service", in: .path, .text(0...200), "Service to probe.", example: "unknown")
            ],
            answer: nothing, refusals: Place.refusals + [.notImplemented]
        ) { _ throws(Problem) in throw Problem(.notImplemented) }
    }
}
