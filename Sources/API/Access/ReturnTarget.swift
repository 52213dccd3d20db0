internal import HTTP
internal import Identity
internal import JSON

/// The return target of a sign-in. It is always a place of this site (open redirect).
struct ReturnTarget: Sendable, Equatable {
    /// An application's request, sealed: only its owner reads it.
    var sealed: String?
    /// A page of this site.
    var path: ReturnPath?
    /// The signed-in user asked to sign in with another account.
    var asOther = false

    init(sealed: String? = nil, path: String? = nil) {
        self.sealed = sealed.flatMap { Self.isSealed($0) ? $0 : nil }
        self.path = path.flatMap { ReturnPath($0) }.flatMap { Self.isPage($0.text) ? $0 : nil }
    }

    init(_ call: Call<RealmContext>) {
        self.init(
            sealed: call.text("continue") ?? call.body["continue"]?.string,
            path: call.text("next") ?? call.body["next"]?.string)
        asOther =
            (sealed != nil || path != nil)
            && (call.text("other") ?? call.body["other"]?.string) == "1"
    }

    static let parameters = [
        Parameter(
            "continue", in: .query, .text(0...longest),
            "Authorization request of an application, to continue after the sign-in."),
        Parameter("next", in: .query, .text(0...4096), "Page to return to after the sign-in."),
        Parameter("other", in: .query, .text(0...1), "`1` to sign in with another account."),
    ]
    static let members: [Member] = [
        .optional(
            "continue", .text(0...longest),
            "Authorization request of an application, to continue after the sign-in."),
        .optional("next", .text(0...4096), "Page to return to after the sign-in."),
        .optional("other", .text(0...1), "`1` to sign in with another account."),
    ]

    static let longest = 8192
    /// Where the pages stand that a user may come back to.
    static let pages = [
        "/account", "/device", "/consent", "/auth/authorize", "/apps", "/settings/clients",
        "/app/social", "/app/connect",
    ]

    private static func isSealed(_ text: String) -> Bool {
        (1...longest).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x5A).contains($0)
                    || (0x61...0x7A).contains($0) || [0x2D, 0x2E, 0x5F, 0x7E].contains($0)
            }
    }

    private static func isPage(_ text: String) -> Bool {
        pages.contains { page in
            let rest = text.utf8.dropFirst(page.utf8.count)
            return text.utf8.starts(with: page.utf8)
                && (rest.isEmpty || [0x2F, 0x3F].contains(rest.first))
                && !text.utf8.contains(UInt8(ascii: "#")) && !text.contains("/.")
        }
    }

    /// Where the user is sent once they are signed in.
    var target: String {
        if let sealed { return "/connect/authorize?continue=\(Percent.encode(sealed))" }
        return path.map { Self.pagesOfFiles[$0.text] ?? $0.text } ?? "/account"
    }

    /// Where a file is fetched from. Browsers that are sent to one stay where they are, which is at a code
    /// that is used.
    private static let pagesOfFiles = ["/account/data.json": "/account/data"]

    /// A page of the sign-in that keeps it in mind.
    func link(_ page: String, _ more: [Form.Pair] = []) -> String {
        var pairs: [Form.Pair] = []
        if let sealed { pairs.append(("continue", sealed)) }
        if let path { pairs.append(("next", path.text)) }
        if asOther { pairs.append(("other", "1")) }
        pairs += more
        return pairs.isEmpty ? page : "\(page)?\(Form.encode(pairs))"
    }

    /// From a sign-in form that was open for too long: its session may have begun since. Nothing of
    /// the form is taken, and another site that sends users here has no say in where they go on.
    static func nextPage(after call: Call<RealmContext>) -> String? {
        let returnTarget = ReturnTarget(call)
        guard call.request.isSent(fromPagesOf: call.context.place.host),
            returnTarget.sealed.flatMap({ call.context.pendingRequest($0) }) != nil
                || returnTarget.path != nil
        else { return nil }
        return returnTarget.link("/login")
    }
}
