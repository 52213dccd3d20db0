internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import Mail
internal import ReadModels
internal import Values

extension AccountView {
    /// As people write it; `MailAddress` makes one form of it.
    static let email = Schema.text(
        3...254,
        .said(
            "a mail address such as ann@example.org",
            .sequence([
                .some(Characters("-!#$&'*+/=?^_`{|}~.a-zA-Z0-9"), 1...64), .text("@"),
                .some(Characters(oneOf: domain), 1...252),
            ])), format: "idn-email")
    private static let domain: [ClosedRange<UInt32>] = [
        0x2D...0x2E, 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0xA1...0xD7FF, 0xE000...0x10FFFF,
    ]
    static let name = Schema.text(1...100, Names.showable(100))
    /// It stands in headers of ours: see `/connect/guard`.
    static let number = Schema.text(
        1...100,
        .said("a name of plain letters, digits and signs", .some(Characters(0x21...0x7E), 1...100)))

    static let schema = Schema.named(
        "Account",
        .object(
            .required("id", Fields.id, "Its id, which never changes."),
            .required("mailbox", Fields.id, "What stands for its mail address."),
            .required("confirmed", .boolean, "Whether the mail address is verified."),
            .required("enabled", .boolean, "Whether its person may sign in."),
            .required(
                "deletion_due", .nullable(Fields.time),
                "When it is deleted, if nobody calls it off; until then its person is kept out."),
            .required("registered_at", Fields.time, "Since when it is there."),
            .required("changed_at", Fields.time, "When something last happened to it."),
            .optional(
                "person",
                .nullable(
                    .object(
                        .required("email", .text(1...320), "The mail address."),
                        .optional("first_name", .text(1...100), "The first name."),
                        .optional(
                            "external_id", .text(1...100), "What other systems know them by."),
                        .optional("last_name", .text(1...100), "The last name."))),
                "With `open`: whose it is; null where that is erased.")))

    static let example: JSON = [
        "id": "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10",
        "mailbox": "0193a0e7-5e0c-8000-9000-2f6b1c1d9a14", "confirmed": true, "enabled": true,
        "deletion_due": .null, "registered_at": "2026-11-21T01:23:45.123456Z",
        "changed_at": "2026-11-21T01:23:45.123456Z",
    ]

    var members: JSONObject {
        [
            "id": .string(id.description), "mailbox": .string(mailbox.description),
            "confirmed": .bool(isConfirmed), "enabled": .bool(!isDisabled),
            "deletion_due": deletionDue.map { .string($0.description) } ?? .null,
            "registered_at": .string(registeredAt.description),
            "changed_at": .string(changedAt.description),
        ]
    }
}

extension Call<AdminContext> {
    /// The account as a command left it.
    func account(_ status: Status, _ id: UUID, _ done: Done) async throws(Problem) -> Response {
        let folded = try await state(Account.self, of: id, after: done)
        let view = AccountView(
            id: id, mailbox: folded.state.mailbox ?? .zero,
            isConfirmed: folded.state.isConfirmed, isDisabled: folded.state.isDisabled,
            deletionDue: folded.state.deletionDue, registeredAt: folded.createdAt,
            changedAt: folded.changedAt)
        return Response.json(status, .object(view.members)).at(done)
    }

    /// The account that the path names.
    @discardableResult
    func knownAccount() async throws(Problem) -> AccountView {
        let realm = try realm
        let id = try requiredID("account_id")
        let found = try await reading { () throws(LogFailure) in
            try await context.queries.account(id, in: realm)
        }
        guard let found else {
            try await knownRealm()
            throw Problem(.noSuchAccount)
        }
        return found
    }

    func find(_ written: String) async throws(Problem) -> AccountView? {
        let realm = try realm
        guard let address = try? MailAddress(written) else {
            throw Problem(.invalidParameter, "Email is no mail address here.", field: "Email")
        }
        return try await reading { () throws(LogFailure) in
            let mailbox = try await context.mint(realm).mailbox(address.text)
            return try await context.queries.account(mailbox: mailbox, in: realm)
        }
    }

    /// A mail address in its one form.
    func address(_ written: String) throws(Problem) -> String {
        do {
            return try MailAddress(written).text
        } catch {
            throw Problem(.invalidField, "email is no mail address here.", field: "email")
        }
    }

    func mailbox(of person: Person) async throws(Problem) -> UUID {
        let realm = try realm
        // A person without an address is refused by the command.
        guard let email = person.email else { return .zero }
        return try await reading { () throws(LogFailure) in
            try await context.mint(realm).mailbox(email)
        }
    }

    func events(of account: UUID) async throws(Problem) -> [Recorded] {
        let realm = try realm
        return try await reading { () throws(LogFailure) in
            try await context.commands.events.stream(account, after: 0, in: realm)
        }
    }

    /// The personal data of an account, for a caller whose request for it is on record.
    func openedPerson(_ account: UUID) async throws(Problem) -> JSON {
        try await disclose(.person, of: [account])
        guard let known = KnownPerson(try await events(of: account)), !known.isErased,
            let email = known.person.email
        else { return .null }
        var members: JSONObject = ["email": .string(email)]
        members["first_name"] = known.person.firstName.map { .string($0) }
        members["external_id"] = known.person.externalID.map { .string($0) }
        members["last_name"] = known.person.lastName.map { .string($0) }
        return .object(members)
    }

    func disclose(_ kind: DisclosureKind, of accounts: [UUID]) async throws(Problem) {
        let write = write(in: try realm)
        _ = try await run(
            RecordDisclosure(id: write.newID("disclosure"), kind: kind, accounts: accounts),
            as: write)
    }
}

extension RecordDisclosure.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .idTaken: Problem(.internalError)
        }
    }
}
