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
    /// fragment hides the code: only an attacker who wrote its request would ask for one.
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
    var place: String { Self.place(of: redirectURI) }

    static func place(of address: String) -> String {
        let scheme = address.prefix { $0 != ":" }.lowercased()
        guard ["https", "http"].contains(scheme) else { return "\(scheme):" }
        return URLParts.parse(address)?.host ?? address
    }

    func refusal(
        _ fault: AuthorizationFault, issuer: String, in look: PageLook
    ) -> Response {
        answer(fault.members, issuer: issuer, in: look)
    }

    /// The same, by a page on which the person decides whether to go there.
    func heldRefusal(
        _ fault: AuthorizationFault, issuer: String, in look: PageLook
    ) -> Response {
        let members = whole(fault.members, issuer)
        let way: UncheckedClientPage.NextRequest =
            switch mode {
            case .query, .fragment: .link(address(members))
            case .formPost: .form(redirectURI, members)
            }
        return UncheckedClientPage(place: place, way: way, code: fault.code.rawValue)
            .response(.badRequest, in: look)
    }

    func answer(
        _ members: [(name: String, value: String)], issuer: String, in look: PageLook
    ) -> Response {
        let members = whole(members, issuer)
        switch mode {
        case .query, .fragment:
            // RFC 9700 section 4.12: 303, so that no form is ever sent on.
            var response = Response(
                status: profile == .voo ? .found : .seeOther, headers: Headers(), body: [])
            response.headers["Location"] = address(members)
            return response
        case .formPost: return FormPost.page(to: redirectURI, members, in: look)
        }
    }

    /// The members of an answer with what every answer has. Readers of the voo profile take all behind
    /// the state for a part of it, so that nothing stands there.
    private func whole(
        _ members: [(name: String, value: String)], _ issuer: String
    ) -> [(name: String, value: String)] {
        var members = members
        if let state { members.append(("state", state)) }
        if profile != .voo { members.append(("iss", issuer)) }
        return members
    }

    private func address(_ members: [(name: String, value: String)]) -> String {
        let query = members.map { "\(Percent.encode($0.name))=\(Percent.encode($0.value))" }
        let isFragment = mode == .fragment
        let mark = isFragment ? "#" : redirectURI.utf8.contains(0x3F) ? "&" : "?"
        return redirectURI + (!isFragment && redirectURI.utf8.last == 0x3F ? "" : mark)
            + query.joined(separator: "&")
    }
}

extension AuthorizationFault {
    fileprivate var members: [(name: String, value: String)] {
        [("error", code.rawValue), ("error_description", sentence)]
    }
}
