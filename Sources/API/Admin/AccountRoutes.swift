internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import Mail
internal import ReadModels
internal import Values

/// The accounts of the people of a realm.
enum AccountRoutes {
    static let table: [Route<AdminContext>] = [
        register, list, get, change, disable, enable, logOut,
    ]

    static let accountID = Parameter(
        "account_id", in: .path, Fields.id, "The account's id.",
        example: "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10")

    private static let register = Route<AdminContext>(
        .post, "/api/admin/realms/{realm}/accounts", id: "registerAccount",
        commandLine: .urd(
            "account register",
            examples: "urd account register --email ann@example.org --first-name Ann"),
        tag: "Accounts",
        summary: "Register an account.",
        detail: """
            A mail address or a phone number belongs to one account of a realm. An \
            unconfirmed one is verified when its owner first signs in. With both, `confirmed` is needed: by \
            either of them its person signs in.
            """,
        right: .realm, parameters: [.realm, .idempotencyKey],
        body: Body(
            schema: .named(
                "NewAccount",
                .object(
                    .optional("email", AccountView.email, "Mail address."),
                    .optional(
                        "phone", AccountView.phone,
                        "Phone number with its country code, beside or instead of a mail address."),
                    .optional("first_name", AccountView.name, "First name."),
                    .optional(
                        "external_id", AccountView.number,
                        "Identifier of the person in other systems."),
                    .optional("last_name", AccountView.name, "Last name."),
                    .optional(
                        "confirmed", .boolean, "Whether the addresses count as verified."))),
            example: ["email": "ada@example.org", "first_name": "Ada", "confirmed": true]),
        answer: .created("The account.", AccountView.shape),
        refusals: [.noSuchRealm, .realmDisabled, .accountExists]
    ) { call throws(Problem) in
        let write = call.write(in: try call.realm)
        var person = Person(
            firstName: call.body["first_name"]?.string, lastName: call.body["last_name"]?.string,
            externalID: call.body["external_id"]?.string)
        try call.address(&person)
        let command = RegisterAccount(
            account: write.newID("account"), addresses: try await call.addresses(of: person),
            person: person, isConfirmed: call.body["confirmed"]?.bool ?? false)
        let done = try await call.run(command, as: write)
        return try await call.account(.created, command.account, done)
            .located("/api/admin/realms/\(write.realm)/accounts/\(command.account)")
    }

    private static let list = Route.list(
        "/api/admin/realms/{realm}/accounts", id: "listAccounts",
        commandLine: .urd(
            "account list", examples: "urd account list", "urd account list --open --all --csv"),
        tag: "Accounts",
        summary: "List the accounts of a realm, or find one by its mail address or phone number.",
        detail: "Nothing of a person is in a list.",
        parameters: [
            Parameter(
                "Email", in: .header, AccountView.email,
                "Mail address of the account. It is a header because URLs end up in logs."),
            Parameter(
                "Phone", in: .header, AccountView.phone,
                "Phone number of the account, with its country code."),
        ], of: AccountView.shape, by: .id(\.id)
    ) { call, page throws(Problem) in
        if let address = try call.addressLookedFor {
            let standing = try await call.standing()
            return ListPage([try await call.find(address)].compactMap { $0 }, at: standing)
        }
        return try await call.context.ask(
            AccountView.page, (after: page.after, limit: page.limit), in: page.realm)
    }

    private static let get = Route<AdminContext>(
        .get, "/api/admin/realms/{realm}/accounts/{account_id}", id: "getAccount",
        commandLine: .urd("account show", examples: "urd account show ann@example.org --open"),
        tag: "Accounts", summary: "Show an account.",
        detail: "Unsealing the person's data is recorded with the caller's name.", right: .realm,
        parameters: [
            .realm, accountID,
            OpenRequest.parameter("Whether to unseal what is known of the person."),
            OpenRequest.reason(),
        ],
        answer: .ok("The account.", AccountView.shape),
        refusals: [.noSuchRealm, .noSuchAccount, .contended]
    ) { call throws(Problem) in
        var members = AccountView.shape.object(try await call.knownAccount())
        if call.isOpening {
            members["person"] = try await call.openedPerson(try call.requiredID("account_id"))
        }
        return .json(.ok, .object(members))
    }

    private static let change = Route<AdminContext>(
        .patch, "/api/admin/realms/{realm}/accounts/{account_id}", id: "changeAccount",
        commandLine: .urd(
            "account change", examples: "urd account change ann@example.org --last-name Lee"),
        tag: "Accounts", summary: "Change the address or name of an account.",
        detail: """
            What is not named stays as it is; what is null goes, but for the last address. With another \
            mail address or phone number, or without one, all sessions of the account end: they may belong to the \
            holder of the old address. An account gets a second address only with `confirmed`.
            """,
        right: .realm, parameters: [.realm, accountID, .idempotencyKey],
        body: Body(
            schema: .named(
                "AccountChange",
                .object(
                    .optional("email", .nullable(AccountView.email), "Mail address."),
                    .optional("phone", .nullable(AccountView.phone), "Phone number."),
                    .optional("first_name", .nullable(AccountView.name), "First name."),
                    .optional(
                        "external_id", .nullable(AccountView.number),
                        "Identifier of the person in other systems."),
                    .optional("last_name", .nullable(AccountView.name), "Last name."),
                    .optional(
                        "confirmed", .boolean, "Whether a new address counts as verified."))),
            example: ["first_name": "Ada"]),
        answer: .written(.ok, "The account.", AccountView.shape),
        refusals: [.noSuchRealm, .realmDisabled, .noSuchAccount, .accountExists]
    ) { call throws(Problem) in
        let write = call.write(in: try call.realm)
        let account = try call.requiredID("account_id")
        if let (done, _) = try await call.earlier(write) {
            return try await call.account(.ok, account, done)
        }
        try await call.knownRealm()
        guard var person = KnownPerson(try await call.events(of: account))?.person else {
            throw Problem(.noSuchAccount)
        }
        try call.address(&person)
        if let name = call.body["first_name"] { person.firstName = name.string }
        if let name = call.body["external_id"] { person.externalID = name.string }
        if let name = call.body["last_name"] { person.lastName = name.string }
        let command = ChangePerson(
            account: account, person: person, addresses: try await call.addresses(of: person),
            isConfirmed: call.body["confirmed"]?.bool ?? false,
            next: NextSubjects(
                mailbox: write.newID("mailbox subject"), phone: write.newID("phone subject")),
            mail: write.newID("mail"))
        return try await call.account(.ok, account, try await call.run(command, as: write))
    }

    private static let disable = simple(
        "disable", id: "disableAccount",
        commandLine: .urd("account disable", examples: "urd account disable ann@example.org"),
        "Disable an account, and end all its sessions."
    ) { AccountChange.disable($0, mail: $1) }

    private static let enable = simple(
        "enable", id: "enableAccount",
        commandLine: .urd("account enable", examples: "urd account enable ann@example.org"),
        "Enable a disabled account."
    ) { account, _ in AccountChange.enable(account) }

    private static let logOut = simple(
        "log-out", id: "logOutAccount",
        commandLine: .urd("account log-out", examples: "urd account log-out ann@example.org"),
        "End all sessions of an account, on every device."
    ) { RotateSecurityStamp(account: $0, mail: $1) }

    /// What needs no more than the account, and perhaps a mail that tells its person.
    static func simple<C: Command>(
        _ word: String, id: String, commandLine: CommandWords, _ summary: String,
        detail: String = "",
        command: @escaping @Sendable (_ account: UUID, _ mail: UUID) -> C
    ) -> Route<AdminContext> where C.Rejection: Refusal {
        Route<AdminContext>(
            .post,
            PathTemplate(
                stringLiteral: "/api/admin/realms/{realm}/accounts/{account_id}/\(word)"), id: id,
            commandLine: commandLine,
            tag: "Accounts", summary: summary, detail: detail, right: .realm,
            parameters: [.realm, accountID, .idempotencyKey],
            answer: .written(.ok, "The account.", AccountView.shape),
            refusals: [.noSuchRealm, .realmDisabled, .noSuchAccount]
        ) { call throws(Problem) in
            let write = call.write(in: try call.realm)
            let account = try call.requiredID("account_id")
            let done = try await call.run(command(account, write.newID("mail")), as: write)
            return try await call.account(.ok, account, done)
        }
    }
}

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
    static let phone = Schema.text(
        3...128,
        .said("a phone number with a plus sign", .some(Characters(0x20...0x10FFFF), 3...128)))
    static let name = Schema.text(1...100, Names.showable(100))
    /// It stands in headers of ours: see `/connect/guard`.
    static let number = Schema.text(
        1...100,
        .said("a name of plain letters, digits and signs", .some(Characters(0x21...0x7E), 1...100)))

    static let shape = Shape<AccountView>(
        "Account", .required("id", "Account id, which never changes.", \.id),
        .required(
            "mailbox",
            "Pseudonym of the mail address, or of the phone number if there is no mail address.",
            \.mailbox, example: "0193a0e7-5e0c-8000-9000-2f6b1c1d9a14"),
        .nullable(
            "phone_mailbox", "Pseudonym of the phone number beside a mail address.", \.phoneMailbox),
        .required("confirmed", "Whether the address is verified.", \.isConfirmed),
        .required("enabled", "Whether the account may sign in.", { !$0.isDisabled }),
        .nullable(
            "deletion_due",
            "Time of the scheduled erasure, unless the deletion is cancelled; until "
                + "then the account cannot sign in.", \.deletionDue),
        .required("registered_at", "Registration time.", \.registeredAt),
        .required("changed_at", "Time of the account's last event.", \.changedAt),
        .added(
            .optional(
                "person",
                .nullable(
                    .object(
                        .optional("email", .text(1...320), "Mail address."),
                        .optional("phone", .text(6...16), "Phone number."),
                        .optional("first_name", .text(1...100), "First name."),
                        .optional(
                            "external_id", .text(1...100),
                            "Identifier of the person in other systems."),
                        .optional("last_name", .text(1...100), "Last name."))),
                "Personal data, with `open`; null if it is erased.")))
}

extension RegisterAccount.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .idTaken: Problem(.accountExists)
        case .mailboxTaken: Problem(.accountExists, field: "email")
        case .invalid(let fault): Problem(of: fault)
        }
    }
}

extension ChangePerson.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .notFound: Problem(.noSuchAccount)
        case .mailboxTaken: Problem(.accountExists, field: "email")
        case .invalid(let fault): Problem(of: fault)
        }
    }
}
