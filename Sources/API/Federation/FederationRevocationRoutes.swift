internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// Where tokens are given back (RFC 7009): with one ends all that is below it in the tree of its device.
enum FederationRevocationRoutes {
    static let table: [Route<RealmContext>] = [revoke, revokeAtService]

    private static let ended = Answer(
        status: .ok, description: "It is over, if it was one of the caller's.", content: .nothing)

    private static let detail = """
        The request is signed by a token: it ends that one, and those below it. A service ends those that it gave. \
        The body is JSON or a form. Of other tokens nothing is told.
        """

    private static let revoke = Route<RealmContext>(
        .post, "/eduid/revoke", id: "revokeFederatedToken", tag: "Federation",
        summary: "Ends a token and all tokens below it.", detail: detail, right: .nothing,
        voice: .federation, answer: ended, refusals: FederationPaths.refusals
    ) { call throws(Problem) in try await call.revokeFederated(at: nil) }

    private static let revokeAtService = Route<RealmContext>(
        .post, "/eduid/services/{client_id}/revoke", id: "revokeServiceToken", tag: "Federation",
        summary: "Ends a token of a service and all tokens below it.", detail: detail,
        right: .nothing, voice: .federation, parameters: [ServiceTokenRoutes.clientID],
        answer: ended, refusals: FederationPaths.refusals
    ) { call throws(Problem) in
        try await call.revokeFederated(at: try call.required("client_id"))
    }
}

/// Who gives a token back.
private enum Revoker {
    case holder(FederatedCaller)
    case service(FederationService)

    /// Whether a session is the caller's own, or below it.
    func owns(_ session: SessionView) -> Bool {
        guard let token = session.terms.federation else { return false }
        switch self {
        case .holder(let caller):
            return session.id == caller.session.id || token.superiors.contains(caller.session.id)
        case .service(let service): return session.terms.client == service.client.id
        }
    }

    var caller: Commands.Caller {
        switch self {
        case .holder(let caller): caller.commandCaller
        case .service(let service): .client(service.clientID)
        }
    }
}

extension Call<RealmContext> {
    fileprivate func revokeFederated(at clientID: String?) async throws(Problem) -> Response {
        let revoker = try await revoker()
        if let clientID, case .service(let service) = revoker, service.clientID != clientID {
            throw Problem(.forbidden)
        }
        guard let text = givenMember("token") else {
            throw Problem(.invalidRequest, "token is required.")
        }
        if let session = try await session(ofFederated: text), revoker.owns(session) {
            // One that is not found is over.
            _ = try await Commands(self).attempt(
                EndSession(session: session.id, reason: .revoked), as: revoker.caller)
        }
        return Response(status: .ok)
    }

    /// Requests of services are signed by other keys than those of tokens: their `kid` is a client.
    private func revoker() async throws(Problem) -> Revoker {
        let line = request.headers.all("Authorization").first
        let shown = line.flatMap { AuthorizationLine($0) }
        let keyID = shown.flatMap { SharedKeyToken($0.text)?.keyID }
        var isService = shown?.scheme == "basic"
        if !isService { isService = try await isOfService(keyID) }
        if isService {
            return .service(try await ServiceAuthentication(self).service())
        }
        return .holder(
            try await RequestAuthorization(self).caller(.device, .person, .service))
    }

    /// A service may be called what a token could be called: it is one where no token has that name.
    private func isOfService(_ keyID: String?) async throws(Problem) -> Bool {
        guard let keyID else { return false }
        if keyID.utf8.count == TokenMint.keyIDLength,
            try await context.live(context.mint.session(ofKey: keyID)) != nil
        {
            return false
        }
        return try await FederationServices(context).find(keyID) != nil
    }

    /// The session of any token that this surface gives, or of its `kid`: one that rests is ended as well.
    private func session(ofFederated text: String) async throws(Problem) -> SessionView? {
        guard text.utf8.count <= RealmContext.longestToken else { return nil }
        if let token = context.mint.readRefreshToken(text) {
            return try await context.lasting(token.session)
        }
        if let token = context.mint.readAccessToken(text) {
            return try await context.lasting(token.session)
        }
        let keyID = String(decoding: text.utf8.prefix(TokenMint.keyIDLength), as: UTF8.self)
        guard let session = try await context.lasting(context.mint.session(ofKey: keyID)) else {
            return nil
        }
        let isToken =
            context.mint.version {
                $0.federatedToken(keyID, session.id, session.generation) == text
            } != nil
        return isToken || text == keyID ? session : nil
    }

    /// A member of a body that is JSON or a form.
    private func givenMember(_ name: String) -> String? {
        guard request.body.count <= 64 * 1024 else { return nil }
        if let members = (try? JSON.parse(request.body, limits: .ofRequests))?.object {
            return members[name]?.string
        }
        let values = (Form.parse(request.body) ?? []).filter { $0.name == name }
        return values.count == 1 ? values[0].value : nil
    }
}
