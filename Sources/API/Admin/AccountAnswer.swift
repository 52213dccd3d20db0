internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import Mail
internal import ReadModels
internal import Values

extension Call<AdminContext> {
    /// The account as a command left it.
    func account(_ status: Status, _ id: UUID, _ done: Done) async throws(Problem) -> Response {
        let folded = try await state(Account.self, of: id, after: done)
        let view = AccountView(
            id, as: folded.state, registeredAt: folded.createdAt, changedAt: folded.changedAt)
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
