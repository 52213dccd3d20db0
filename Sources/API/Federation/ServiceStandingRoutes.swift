internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import Mail
internal import ReadModels
internal import Values

/// Whom a service takes: by its own word.
enum ServiceStandingRoutes {
    static let table: [Route<RealmContext>] = [set]

    private static let set = Route<RealmContext>(
        .post, "/eduid/services/{client_id}/people", id: "setServiceStanding", tag: "Federation",
        summary: "Refuses a person at a service, or takes them again.",
        detail: """
            For the service itself. Its tokens of a refused person end, and it takes no assertion of theirs. A person \
            whom it does not know is answered alike.
            """,
        right: .nothing, voice: .federation, parameters: [ServiceTokenRoutes.clientID],
        body: Body(
            schema: .object(
                .optional("sub", .anything, "Subject (`sub`) of the person in assertions."),
                .optional("refused", .anything, "Whether the service refuses the person.")),
            example: ["sub": "ann@example.org", "refused": true], maximumBytes: 64 * 1024),
        answer: .done("The decision of the service is stored."),
        refusals: FederationPaths.refusals
    ) { call throws(Problem) in
        let service = try await ServiceAuthentication(call).service()
        guard service.clientID == (try call.required("client_id")) else {
            throw Problem(.forbidden)
        }
        guard let address = try? MailAddress(trimmed(try call.requireMember("sub"))),
            let isRefused = call.body["refused"]?.bool
        else {
            throw Problem(.invalidRequest, "sub must be a mail address, and refused a boolean.")
        }
        let mailbox = call.context.mint.mailbox(address.text)
        let account = try await RealmLookups(call.context).folded(Mailbox.self, mailbox).account
        if let account { try await call.setStanding(of: account, at: service, isRefused) }
        return Response(status: .noContent)
    }
}

extension Call<RealmContext> {
    fileprivate func setStanding(
        of account: UUID, at service: FederationService, _ isRefused: Bool
    ) async throws(Problem) {
        _ = try await Commands(self).attempt(
            SetServiceStanding(
                service: service.client.id, account: account, isRefused: isRefused),
            as: .client(service.clientID))
        guard isRefused else { return }
        // Each time that the service says so, for it may not have had an answer before this came to pass.
        _ = try await Commands(self).attempt(
            RemoveAccess(of: account, at: .client(service.client.id)), as: .client(service.clientID)
        )
    }
}
