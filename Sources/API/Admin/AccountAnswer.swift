internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import Mail
internal import PhoneNumbers
internal import ReadModels
internal import Values

extension Call<AdminContext> {
    /// The account as a command left it.
    func account(_ status: Status, _ id: UUID, _ done: WriteReceipt) async throws(Problem)
        -> Response
    {
        let folded = try await state(Account.self, of: id, after: done)
        let view = AccountView(
            id, as: folded.state, registeredAt: folded.createdAt, changedAt: folded.changedAt)
        return Response.json(status, AccountView.shape.json(view)).at(done)
    }

    /// The account that the path names.
    @discardableResult
    func knownAccount() async throws(Problem) -> AccountView {
        let id = try requiredID("account_id")
        return try await found(AccountView.byID, id, or: .noSuchAccount)
    }

    /// The account of an address in its one form.
    func find(_ address: String) async throws(Problem) -> AccountView? {
        let realm = try realm
        return try await reading { () throws(LogFailure) in
            let mailbox = try await context.mint(realm).mailbox(address)
            return try await context.queries.ask(AccountView.byMailbox, mailbox, in: realm)
        }
    }

    /// Whom the caller looks for. Nil where a list is wanted.
    var addressLookedFor: String? {
        get throws(Problem) {
            if let written = text("Email") {
                guard let address = try? MailAddress(written) else {
                    throw Problem(
                        .invalidParameter, "Email is no mail address here.", field: "Email")
                }
                return address.text
            }
            guard let written = text("Phone") else { return nil }
            guard let number = try? PhoneNumber(written) else {
                throw Problem(
                    .invalidParameter, "Phone is no phone number with its country.", field: "Phone")
            }
            return number.text
        }
    }

    /// A phone number in its one form: of a mobile phone, from any country.
    func phone(_ written: String) throws(Problem) -> String {
        do {
            let number = try PhoneNumber(written)
            if number.kind.takesMessages { return number.text }
        } catch {
            throw PhoneFault.noNumber.problem("phone")
        }
        throw PhoneFault.noMobile.problem("phone")
    }

    /// What the body says of the person's addresses.
    func address(_ person: inout Person) throws(Problem) {
        if let email = body["email"] { person.email = try email.string.map(address) }
        if let phone = body["phone"] { person.phone = try phone.string.map(self.phone) }
        guard person.address != nil else {
            throw Problem(.missingField, "email or phone is required.", field: "email")
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

    func addresses(of person: Person) async throws(Problem) -> Addresses {
        let realm = try realm
        return try await reading { () throws(LogFailure) in
            try await context.mint(realm).addresses(of: person)
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
        try await disclose(.person, of: [account], for: text("reason"))
        return person(KnownPerson(try await events(of: account)))
    }

    /// Null where nothing is known of the person any more.
    func person(_ known: KnownPerson?) -> JSON {
        guard let known, !known.isErased, known.person.address != nil else { return .null }
        var members: JSONObject = [:]
        members["email"] = known.person.email.map { .string($0) }
        members["phone"] = known.person.phone.map { .string($0) }
        members["first_name"] = known.person.firstName.map { .string($0) }
        members["external_id"] = known.person.externalID.map { .string($0) }
        members["last_name"] = known.person.lastName.map { .string($0) }
        return .object(members)
    }
}
