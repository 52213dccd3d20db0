internal import HTTP
internal import Identity
internal import JSON

/// How the answer is handed to the client.
enum ResponseMode: String, CaseIterable {
    case query
    case formPost = "form_post"
    /// Servers never see it, and a browser carries it on through every redirect.
    case fragment

    /// Whether the client can read an answer that comes so. A client with a secret has a server, from which a
    /// fragment hides the code: only somebody else who wrote its request would ask for one.
    func reaches(_ redirectURI: String, of client: ClientMetadata) -> Bool {
        switch self {
        case .query: true
        case .formPost: FormPost.canReach(redirectURI)
        case .fragment: client.authenticationMethod == .none
        }
    }
}

/// A place that was found to be the client's, and how it wants its answers.
struct AuthorizationTarget: Equatable {
    var redirectURI: String
    var mode = ResponseMode.query
    var state: String?
    var profile = ClientProfile.standard

    /// What people may know of it: the host of a site, or the scheme that an app claims.
    var place: String {
        let scheme = redirectURI.prefix { $0 != ":" }.lowercased()
        guard ["https", "http"].contains(scheme) else { return "\(scheme):" }
        return URLParts.parse(redirectURI)?.host ?? redirectURI
    }

    func refusal(
        _ fault: AuthorizationFault, issuer: String, in look: PageLook
    ) -> Response {
        answer(
            [("error", fault.code.rawValue), ("error_description", fault.sentence)],
            issuer: issuer, in: look)
    }

    /// The members of an answer with what every answer has. Readers of the voo profile take all behind
    /// the state for a part of it, so that nothing stands there.
    func answer(
        _ members: [(name: String, value: String)], issuer: String, in look: PageLook
    ) -> Response {
        var members = members
        if let state { members.append(("state", state)) }
        if profile != .voo { members.append(("iss", issuer)) }
        switch mode {
        case .query, .fragment: return redirect(members)
        case .formPost: return FormPost.page(to: redirectURI, members, in: look)
        }
    }

    /// RFC 9700 section 4.12: 303, so that no form is ever sent on.
    private func redirect(_ members: [(name: String, value: String)]) -> Response {
        let query = members.map { "\(Percent.encode($0.name))=\(Percent.encode($0.value))" }
        let isFragment = mode == .fragment
        let mark = isFragment ? "#" : redirectURI.utf8.contains(0x3F) ? "&" : "?"
        var response = Response(
            status: profile == .voo ? .found : .seeOther, headers: Headers(), body: [])
        response.headers["Location"] =
            redirectURI + (!isFragment && redirectURI.utf8.last == 0x3F ? "" : mark)
            + query.joined(separator: "&")
        return response
    }
}
