internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// The owner's devices, with the app.
enum OwnerClientRoutes {
    static let table: [Route<RealmContext>] = [list, usage, revoke, synchronized]

    private static let refusals: [ProblemKind] =
        Place.refusals + [.invalidRequest, .invalidClient, .forbidden]

    private static let list = Route<RealmContext>(
        .get, "/settings/clients", id: "listInstallations", tag: "Flagship",
        summary: "Lists the apps that the owner authorized.", right: .nothing, voice: .flagship,
        answer: .ok("In JSON:API.", .openObject, example: ["data": []]), refusals: refusals
    ) { call throws(Problem) in
        // An owner who types the address wants to see the page; apps never ask for one.
        if call.request.isOfSomebodyWhoReads, call.request.headers["Authorization"] == nil,
            call.request.query == nil
        {
            return .seeOther("/account/sessions")
        }
        let account = try await call.everything().session.terms.account
        let used = try await call.lastUses(of: account ?? .zero)
        var data: [JSON] = []
        for (id, client) in try await call.adoptedInstallations() {
            var attributes = call.document(of: id, client)
            // The device's push token is private to the device.
            attributes["notification_device_token"] = nil
            attributes["certified_by"] = client.certification.map { .string($0.rawValue) }
            attributes["certified_at"] = client.certifiedAt.map { .string($0.description) }
            attributes["last_refreshed_at"] = used[client.clientID].map {
                .string($0.description)
            }
            let use = try await RealmLookups(call.context).folded(
                InstallationUse.self, InstallationUse.stream(of: id))
            attributes["synchronized_at"] = use.synchronizedAt.map { .string($0.description) }
            data.append([
                "type": "io.cozy.oauth.clients", "id": .string(client.clientID),
                "attributes": .object(attributes),
                "links": ["self": .string("/settings/clients/\(client.clientID)")],
            ])
        }
        return .jsonAPI(
            .ok, ["data": .array(data), "meta": ["count": .integer(Int64(data.count))]])
    }

    private static let usage = Route<RealmContext>(
        .get, "/settings/clients-usage", id: "countInstallations", tag: "Flagship",
        summary: "Counts the apps that the owner authorized.", right: .nothing, voice: .flagship,
        answer: .ok("In JSON:API.", .openObject, example: ["data": [:]]), refusals: refusals
    ) { call throws(Problem) in
        _ = try await call.everything()
        let count = Int64(
            try await RealmLookups(call.context).folded(Owner.self, Owner.stream).devices.count)
        let limit = call.context.place.settings[SettingCatalogue.installationLimit]
        var attributes: JSONObject = [
            "count": .integer(count), "limitReached": .bool(limit > 0 && count >= limit),
            "limitExceeded": .bool(limit > 0 && count > limit),
        ]
        if limit > 0 { attributes["limit"] = .integer(limit) }
        return .jsonAPI(
            .ok,
            [
                "data": [
                    "type": "io.cozy.settings", "id": "io.cozy.settings.clients-usage",
                    "attributes": .object(attributes),
                    "links": ["self": "/settings/clients-usage"],
                ]
            ])
    }

    private static let revoke = Route<RealmContext>(
        .delete, "/settings/clients/{client_id}", id: "revokeInstallation", tag: "Flagship",
        summary: "Removes an app on a device.", detail: "All its tokens are revoked.",
        right: .nothing,
        voice: .flagship, parameters: [InstallationRoutes.clientID],
        answer: .done("The client is deleted."),
        refusals: refusals
    ) { call throws(Problem) in
        let caller = try await call.everything().session.terms.client
        guard let (id, _) = try await call.installation(call.text("client_id")) else {
            return Response(status: .noContent)
        }
        // A client that does not exist any more is as good as deleted.
        _ = try await Commands(call).attempt(DeleteClient(id: id), as: .installation(caller))
        return Response(status: .noContent)
    }

    private static let synchronized = Route<RealmContext>(
        .post, "/settings/synchronized", id: "markSynchronized", tag: "Flagship",
        summary: "Marks an app as synchronized.", right: .nothing, voice: .flagship,
        answer: .done("Heard."),
        refusals: refusals
    ) { call throws(Problem) in
        let id = try await call.installationToken().session.terms.client
        let refusal = try await Commands(call).attempt(
            MarkSynchronized(installation: id, now: call.context.clock.now()), as: .installation(id)
        )
        if refusal != nil { throw Problem.said(.noSuchClient, "Client not found") }
        return Response(status: .noContent)
    }
}

extension Call<RealmContext> {
    /// When each client got a token last, by its name.
    fileprivate func lastUses(of account: UUID) async throws(Problem) -> [String: Timestamp] {
        var last: [String: Timestamp] = [:]
        for session in try await RealmLookups(context).openSessions(of: account)
        where session.terms.webApp == nil {
            last[session.terms.clientID] = max(
                last[session.terms.clientID] ?? session.lastUsedAt, session.lastUsedAt)
        }
        return last
    }

    fileprivate func adoptedInstallations() async throws(Problem) -> [(UUID, Client)] {
        let ids = try await context.ask(ClientView.installations, ()).map(\.id)
        var found: [(UUID, Client)] = []
        for id in ids {
            let client = try await RealmLookups(context).folded(Client.self, id)
            if client.isAdopted, !client.isDeleted { found.append((id, client)) }
        }
        return found
    }
}
