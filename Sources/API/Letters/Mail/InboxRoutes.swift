public import EventSourcing
public import HTTP
internal import Identity
internal import JSON
public import Values

/// What the inbox of a development run shows.
public struct InboxContext: RouteContext {
    /// Newest first: of one address, or of all.
    let letters: @Sendable (_ address: String?, _ after: UUID?) -> [InboxLetter]
    /// The first message of a list that may be waited for.
    let awaited:
        @Sendable (_ address: String, _ after: UUID?, _ limit: Duration) async -> [InboxLetter]

    public init(
        letters: @escaping @Sendable (_ address: String?, _ after: UUID?) -> [InboxLetter],
        awaited:
            @escaping @Sendable (_ address: String, _ after: UUID?, _ limit: Duration) async ->
            [InboxLetter]
    ) {
        self.letters = letters
        self.awaited = awaited
    }

    public func admit(
        _ request: Request, to route: Outline, realm: RealmID?, client: ClientCredentials?
    ) {}
}

/// Mails and messages that `urd dev` keeps instead of sending them, for people and for programs.
public enum InboxRoutes {
    public static let table: [Route<InboxContext>] = [list, show]

    private static let list = Route<InboxContext>(
        .get, "/inbox", id: "listInbox", tag: "Inbox",
        summary:
            "Lists the mails and messages that came, newest first: a page for browsers, JSON for all others.",
        right: .nothing,
        parameters: [
            Parameter(
                "to", in: .query, .text(1...320), "Mail address or phone number of the recipient."
            ),
            Parameter(
                "after", in: .query, Fields.id, "Id of the message behind which the list begins."),
            Parameter(
                "wait", in: .query, .integer(0...30),
                "Seconds to wait for the first message to `to`."),
        ],
        answer: .ok("The mails.", .list(of: shape.schema, 0...100), example: [])
    ) { call throws(Problem) in
        let address = call.text("to").map(normalised)
        let known = call.text("after").flatMap { UUID($0) }
        var letters = call.context.letters(address, known)
        if letters.isEmpty, let address, let seconds = call.integer("wait"), seconds > 0 {
            letters = await call.context.awaited(address, known, .seconds(seconds))
        }
        let accepts = call.request.headers["Accept"] ?? ""
        guard accepts.contains("text/html") else {
            return .json(.ok, .array(letters.map(shape.json)))
        }
        return .page(InboxPage(letters: letters).html, InboxPage.policy)
    }

    private static let show = Route<InboxContext>(
        .get, "/inbox/{id}", id: "showMail", tag: "Inbox",
        summary: "Shows a mail.",
        right: .nothing,
        parameters: [Parameter("id", in: .path, Fields.id, "Message id.", example: exampleID)],
        answer: Answer(status: .ok, description: "The mail.", content: .text("text/html")),
        refusals: [.noSuchRoute]
    ) { call throws(Problem) in
        let id = UUID(try call.required("id"))
        guard let found = call.context.letters(nil, nil).first(where: { $0.id == id }) else {
            throw Problem(.noSuchRoute)
        }
        // What came by mail runs nothing and sends nothing here.
        return .page(
            Array(found.letter.html.utf8),
            "default-src 'none'; style-src 'unsafe-inline'; img-src https:; sandbox allow-popups")
    }

    private static let exampleID: JSON = "0193a0e7-5e0c-7000-9000-2f6b1c1d9a10"

    private static func normalised(_ address: String) -> String {
        let address = address.filter { !$0.isWhitespace }.lowercased()
        // In a query a plus sign means a space.
        return address.utf8.allSatisfy { (0x30...0x39).contains($0) } ? "+\(address)" : address
    }

    private static let shape = Shape<InboxLetter>(
        .required("id", "Message id.", \.id),
        .required(
            "channel", .oneOf(Channel.allCases.map(\.rawValue)), "Channel of the message.",
            \.letter.channel.rawValue, example: "email"),
        .required(
            "to", .text(1...320), "Mail address or phone number of the recipient.", \.letter.to,
            example: "ann@example.org"),
        .required(
            "subject", .text(0...400), "Subject of a mail; empty for a message to a phone.",
            \.letter.subject, example: "Your code"),
        .required(
            "text", .text(1...100_000), "Body as plain text.", \.letter.text, example: "0123"),
        .required(
            "html", .text(0...1_000_000), "Body as HTML; empty for a message to a phone.",
            \.letter.html, example: ""),
        .required("at", "Time of the message.", \.at))
}

extension Response {
    /// A page, and what it may do.
    static func page(_ body: [UInt8], _ policy: String) -> Response {
        var response = Response(status: .ok, headers: Headers(), body: body)
        response.headers["Content-Type"] = "text/html; charset=utf-8"
        response.headers["Content-Security-Policy"] = policy
        return response
    }
}
