internal import EventSourcing
internal import HTTP
internal import Identity

/// Who says to be a client that there is, and does not show it, is on record: it is the client's own
/// mistake or somebody's who tries secrets. What no client is called leaves nothing.
extension RealmContext {
    func record(
        refused credentials: ClientCredentials?, in request: Request
    ) async throws(Problem) {
        guard let credentials, let clientID = try? name(of: credentials) else { return }
        let known = try await reading { () throws(LogFailure) in
            try await clients.fresh(clientID, in: place.realm)
        }
        guard let known else { return }
        let asked = Form.parse(request.body)?.first { $0.name == "grant_type" }
        let refused = RefusedSignIn(
            method: asked.flatMap { GrantType(rawValue: $0.value) } ?? .clientCredentials,
            reason: known.isDisabled ? "client_disabled" : "invalid_client", account: nil,
            client: known.id, clientID: clientID, app: known.metadata.appID ?? place.app,
            from: signInPlace(of: request))
        _ = try await commands.tried(
            RecordRefusedClient(attempt: newID(), refused), in: place.realm, id: newID(),
            by: origin("anonymous", client: clientID, of: request))
    }

    /// Where the caller is, without saying who.
    func signInPlace(of request: Request) -> SignInPlace {
        SignInPlace(
            source: mint.pseudonym(ofNetwork: Source(place.address).network),
            device: DeviceKind.of(userAgent: request.headers["User-Agent"]))
    }
}
