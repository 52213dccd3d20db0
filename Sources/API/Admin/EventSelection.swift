internal import EventSourcing
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// By whom and what the events of a realm are selected. Of several conditions all hold.
enum EventSelection {
    static let parameters = about + [.minimumPosition]

    static let about = [
        id("account", "Account that the events are about."),
        id("session", "Session of a client that the events are about."),
        id("browser", "Browser session at the realm's pages that the events are about."),
        Parameter(
            "client", in: .query, ClientSchema.clientID,
            "Client of the events: its OAuth client id, or the stream id of a deleted "
                + "client.",
            example: "phone"),
        Parameter(
            "source", in: .query, source, "Network of the sign-ins, by its pseudonym.",
            example: "q3Jx0a7bTn0y"),
        Parameter(
            "device", in: .query, .oneOf(DeviceKind.all), "Kind of device of the sign-ins."),
    ]

    static let source = Schema.text(12...12, .some(Characters("-a-zA-Z0-9_"), 12...12))

    private static func id(_ name: String, _ description: String) -> Parameter {
        Parameter(
            name, in: .query, Fields.id, description,
            example: "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10")
    }
}

extension Call<AdminContext> {
    /// Whom and what the events are to be about; empty where nothing is said.
    func selectedReferences() async throws(Problem) -> EventReferences {
        EventReferences(
            account: try selectedID("account"), session: try selectedID("session"),
            browser: try selectedID("browser"), client: try await selectedClient(),
            source: text("source"), device: text("device"))
    }

    private func selectedID(_ name: String) throws(Problem) -> UUID? {
        guard let written = text(name) else { return nil }
        guard let id = UUID(written) else { throw Problem(.invalidParameter, field: name) }
        return id
    }

    /// A deleted client has no name any more: it is found by its id.
    private func selectedClient() async throws(Problem) -> UUID? {
        guard let name = text("client") else { return nil }
        let realm = try realm
        let known = try await context.ask(ClientView.byClientID, name, in: realm)
        guard let id = known?.id ?? UUID(name) else {
            try await knownLog()
            throw Problem(
                .invalidParameter, "The realm has no client '\(name)'.", field: "client")
        }
        return id
    }
}
