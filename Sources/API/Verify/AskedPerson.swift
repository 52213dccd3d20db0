internal import EventSourcing
internal import HTTP
internal import Identity
internal import ReadModels
internal import Values

/// What apps say of the person whose address is to be proved, on the page and in the frame alike.
enum AskedPerson {
    static let parameters: [Parameter] = [
        Parameter(
            "cotter_user_id", in: .query, .text(0...64),
            "Person whose address must be verified; any person by default."),
        Parameter(
            "identifier_field", in: .query, .text(0...64),
            "Field of the address in the app's form; a field name of the other type is refused."),
        Parameter(
            "direct_login", in: .query, .text(0...20),
            "Whether to send a code to the `input` without asking for the address."),
    ]

    /// Scripts write these words where a page has none.
    static func isNothing(_ text: String) -> Bool { ["", "null", "undefined"].contains(text) }

    /// Words for the one type that an app uses for no field of the other.
    fileprivate static let words: [VerifyRequest.Kind: [String]] = [
        .email: ["email", "e-mail", "mail", "email_address"],
        .phone: ["phone", "phone_number", "mobile", "tel", "telephone"],
    ]
}

extension Call<RealmContext> {
    /// Whose address it has to be, if that is said.
    func queriedPerson() throws(Problem) -> UUID? {
        guard let text = text("cotter_user_id"), !AskedPerson.isNothing(text) else { return nil }
        guard let id = UUID(text), id != .zero else {
            throw Problem(.invalidRequest, "cotter_user_id must be the ID of a person.")
        }
        return id
    }

    /// Throws where the app's own name of the field contradicts the type.
    func checkField(_ kind: VerifyRequest.Kind) throws(Problem) {
        let field = (text("identifier_field") ?? "").lowercased()
        for (other, words) in AskedPerson.words where other != kind && words.contains(field) {
            throw Problem(
                .invalidRequest,
                "identifier_field is \(field), which is no field for the type \(kind.rawValue).")
        }
    }

    func queriedDirectLogin() throws(Problem) -> Bool {
        switch text("direct_login") ?? "" {
        case "true": return true
        case let other where other == "false" || AskedPerson.isNothing(other): return false
        default: throw Problem(.invalidRequest, "direct_login must be true or false.")
        }
    }

    /// Whether an address may be proved here: any, or that of the person whom the app means. Which it is must
    /// not show before the address is proved.
    func isMeant(_ address: String, _ person: UUID?) async throws(Problem) -> Bool {
        guard let person else { return true }
        let mailbox = context.mint.mailbox(address)
        let account = try await context.ask(AccountView.byMailbox, mailbox)
        return account?.id == person
    }
}
