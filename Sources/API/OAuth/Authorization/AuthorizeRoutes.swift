internal import HTTP
internal import Identity
internal import JSON

/// Where browsers come to from clients, and go back from with a code (RFC 6749 section 3.1).
enum AuthorizeRoutes {
    static let table: [Route<RealmContext>] = [
        authorize(.get, path, id: "authorize"), authorize(.post, path, id: "authorizeByForm"),
        script,
    ]

    static let path = "/connect/authorize"

    static func authorize(_ method: Method, _ path: String, id: String) -> Route<RealmContext> {
        Route(
            method, PathTemplate(stringLiteral: path), id: id, tag: "OAuth",
            summary:
                "Redirects the browser to its client with a code, or to a page that has to come first.",
            detail: """
                Takes the parameters of OpenID Connect Core section 3.1.2.1 with PKCE (RFC 7636), \
                a pushed request (RFC 9126) or a signed one (RFC 9101). A client that keeps no \
                secret must send a code_challenge. Where the redirect URI is not one of the \
                client's, there is no redirect.
                """,
            right: .nothing, voice: .page,
            answer: Answer(
                status: .seeOther, description: "To the client, or to a page of the realm.",
                content: .nothing, headers: [("Location", "URL of the redirect.")]),
            refusals: Place.refusals + [.invalidRequest]
                + (method == .post ? [.unsupportedMediaType] : [])
        ) { call throws(Problem) in
            try await call.authorize()
        }
    }

    private static let script = Route<RealmContext>(
        .get, PathTemplate(stringLiteral: FormPost.scriptPath), id: "getFormPostScript",
        tag: "OAuth", summary: "Sends the form of a page that hands an answer to a client.",
        right: .nothing, voice: .oauth,
        answer: Answer(
            status: .ok, description: "The script.", content: .text("text/javascript")),
        refusals: Place.refusals
    ) { _ throws(Problem) in
        .text(.ok, "text/javascript; charset=utf-8", FormPost.script)
    }
}
