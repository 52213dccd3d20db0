internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// Requests that clients push (RFC 9126). Nothing is stored until a user grants the request: its
/// `request_uri` contains all of it, sealed.
enum PushedRequests {
    static let table: [Route<RealmContext>] = [push]

    static let path = "/connect/par"
    static let prefix = "urn:ietf:params:oauth:request_uri:"
    /// Seconds until the request expires.
    static let lifetime: Int64 = 90

    private static let push = Route<RealmContext>(
        .post, PathTemplate(stringLiteral: path), id: "pushAuthorizationRequest", tag: "OAuth",
        summary: "Receives a pushed authorization request (RFC 9126).",
        detail: "Its parameters are those of the authorization endpoint.", right: .client,
        voice: .oauth,
        body: .form(
            .object(
                ClientCredentials.members + [
                    .optional("response_type", .text(1...100), "Response type; always `code`."),
                    .optional("redirect_uri", .text(1...2048), "Redirect URI of the response."),
                    .optional("request", .text(1...16384), "Signed request object (RFC 9101)."),
                    .optional(
                        "request_uri", .text(1...16384),
                        "Request URI; not allowed in a pushed request."),
                ]),
            example: ["client_id": "web", "response_type": "code"]),
        answer: Answer(
            status: .created, description: "What to send the browser with.",
            content: .json(
                .object(
                    .required(
                        "request_uri", .text(1...16384),
                        "Request URI for the authorization endpoint."),
                    .required(
                        "expires_in", .integer(1...600), "Lifetime of the request URI in seconds.")),
                example: ["request_uri": "urn:ietf:params:oauth:request_uri:…", "expires_in": 90])),
        refusals: Place.refusals + [.invalidRequest, .invalidClient, .invalidProof, .nonceNeeded],
        traits: .forScripts
    ) { call throws(Problem) in
        try await call.push()
    }
}

extension Call<RealmContext> {
    fileprivate func push() async throws(Problem) -> Response {
        let client = try caller.client
        let parameters = try authorizationParameters()
        let known = KnownClient(
            id: client.id, metadata: client.metadata, secret: nil, isDisabled: false)
        let reader = AuthorizationReader(
            context: context, clientID: client.clientID, known: known)
        guard parameters["request_uri"] == nil else {
            throw Problem(.invalidRequest, "A request that is pushed names no other one.")
        }
        // RFC 9449 section 10.1: a proof says as much as its thumbprint would.
        let proof = try context.tokenProof(of: request)
        let resolved: AuthorizationParameters
        do throws(AuthorizationFault) { resolved = try await reader.resolved(parameters) } catch {
            return refused(error)
        }
        var asked: AuthorizationRequest
        do throws(AuthorizationRefusal) {
            asked = try await reader.read(resolved)
        } catch {
            switch error {
            case .told(let problem): throw problem
            case .sent(let fault, _), .held(let fault, _): return refused(fault)
            }
        }
        if let proof {
            // Of a request object it is what the object says.
            guard asked.key == nil || asked.key == proof.key else {
                throw Problem(.invalidProof, "dpop_jkt is not of the key that is proved.")
            }
            try await context.use(proof)
            asked.key = proof.key
        }
        let until = context.clock.now().adding(seconds: PushedRequests.lifetime)
        guard
            let sealed = context.mint.seal(
                [
                    "request": asked.json, "until": .integer(until.seconds),
                    "id": .string(context.newID().description),
                ], for: .pushedRequest)
        else { throw Problem(.internalError) }
        // Its name would lead nowhere.
        guard sealed.utf8.count <= TokenMint.longestSealed else {
            throw Problem(.invalidRequest, "The request is too long.")
        }
        return .json(
            .created,
            [
                "request_uri": .string(PushedRequests.prefix + sealed),
                "expires_in": .integer(PushedRequests.lifetime),
            ])
    }

    private func refused(_ fault: AuthorizationFault) -> Response {
        .json(
            .badRequest,
            [
                "error": .string(fault.code.rawValue),
                "error_description": .string(fault.sentence),
            ])
    }
}

extension AuthorizationReader {
    /// All of a request that comes by its parameters, checked.
    func whole(
        _ parameters: AuthorizationParameters
    ) async throws(AuthorizationRefusal) -> AuthorizationRequest {
        let resolved: AuthorizationParameters
        do throws(AuthorizationFault) { resolved = try await self.resolved(parameters) } catch {
            throw refusal(error, beside: parameters)
        }
        return try await read(resolved)
    }

    /// What a client asks, once it is known which words of the request count.
    func read(
        _ resolved: AuthorizationParameters
    ) async throws(AuthorizationRefusal) -> AuthorizationRequest {
        let target: (AuthorizationTarget, isNamed: Bool)
        do throws(Problem) { target = try self.target(resolved) } catch { throw .told(error) }
        return try await read(resolved, to: target.0, isNamed: target.isNamed)
    }

    /// Of an object that cannot be read the parameters beside it may still say where to tell it.
    func refusal(
        _ fault: AuthorizationFault, beside parameters: AuthorizationParameters
    ) -> AuthorizationRefusal {
        guard parameters["redirect_uri"] != nil, let (target, _) = try? target(parameters) else {
            return .told(Problem(.invalidRequest, fault.sentence))
        }
        return .sent(fault, target)
    }

    /// A request that this client pushed a moment ago.
    func pushed(
        _ uri: String, beside parameters: AuthorizationParameters
    ) throws(AuthorizationRefusal) -> AuthorizationRequest {
        guard uri.utf8.starts(with: PushedRequests.prefix.utf8) else {
            throw refusal(
                AuthorizationFault(
                    .requestURINotSupported, "Requests are not fetched from elsewhere."),
                beside: parameters)
        }
        let sealed = String(uri.dropFirst(PushedRequests.prefix.count))
        guard let json = context.mint.unseal(sealed, for: .pushedRequest),
            let until = json["until"]?.integer, context.clock.now().seconds <= until,
            let id = json["id"]?.string.flatMap({ UUID($0) }),
            var asked = json["request"].flatMap({ AuthorizationRequest($0) }),
            asked.client == known.id,
            RedirectRule.leads(asked.target.redirectURI, to: metadata.redirectURIs)
        else {
            throw .told(Problem(.invalidRequest, "The pushed request is not known, or over."))
        }
        asked.pushed = id
        asked.askedAt = context.clock.now()
        return asked
    }
}
