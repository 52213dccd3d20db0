internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// What the apps call the instance: the owner, and the settings of their realm.
enum InstanceRoutes {
    static let table: [Route<RealmContext>] = [get, update, sign, flags]

    private static let refusals: [ProblemKind] =
        Place.refusals + [.invalidRequest, .invalidClient, .forbidden]

    private static let get = Route<RealmContext>(
        .get, "/settings/instance", id: "getInstance", tag: "Flagship",
        summary: "Shows the owner, and how they sign in.",
        detail: """
            An app whose token has not the scope `*` sees neither the mail address nor whether codes \
            are mailed.
            """,
        right: .nothing, voice: .flagship,
        answer: .ok("In JSON:API.", .openObject, example: ["data": [:]]), refusals: refusals
    ) { call throws(Problem) in
        let token = try await call.installationToken()
        return try await call.instanceDocument(
            isWhole: token.scope.contains(Installation.scope))
    }

    /// The apps wait for this answer at every start.
    private static let flags = Route<RealmContext>(
        .get, "/settings/flags", id: "getFlags", tag: "Flagship",
        summary: "Shows what is switched on in the apps here.",
        detail: "For every good token. `cozy.oauthclients.max` is how many devices may be let in.",
        right: .nothing, voice: .flagship,
        answer: .ok("In JSON:API.", .openObject, example: ["data": [:]]),
        refusals: Place.refusals + [.invalidRequest, .invalidClient]
    ) { call throws(Problem) in
        let token = try await call.profileToken()
        var flags: JSONObject = [:]
        if let id = token.session.terms.webApp,
            let app = try await RealmLookups(call.context).webApp(id)
        {
            flags = app.card.flags
        }
        let limit = call.context.place.settings[SettingCatalogue.installationLimit]
        if limit > 0 { flags["cozy.oauthclients.max"] = .integer(limit) }
        return .jsonAPI(
            .ok,
            [
                "data": [
                    "type": "io.cozy.settings", "id": "io.cozy.settings.flags",
                    "attributes": .object(flags), "links": ["self": "/settings/flags"],
                ]
            ])
    }

    private static let update = Route<RealmContext>(
        .put, "/settings/instance", id: "updateInstance", tag: "Flagship",
        summary: "Changes the owner's name and language.",
        detail: "His mail address is changed by `POST /settings/email`.", right: .nothing,
        voice: .flagship,
        body: Body(
            .jsonAPI, schema: .openObject,
            example: [
                "data": [
                    "type": "io.cozy.settings", "id": "io.cozy.settings.instance",
                    "attributes": ["public_name": "Camille", "locale": "en"],
                ]
            ], maximumBytes: 64 * 1024),
        answer: .ok("In JSON:API.", .openObject, example: ["data": [:]]), refusals: refusals
    ) { call throws(Problem) in
        let client = try await call.everything().session.terms.client
        guard let attributes = call.body["data"]?["attributes"]?.object else {
            return .jsonAPIError(.badRequest, "Bad request", "There are no attributes.")
        }
        let (account, known) = try await call.ownersPerson()
        var person = known
        if let email = attributes["email"]?.string, email != known.email {
            return invalid("email")
        }
        if let name = attributes["public_name"]?.string.map(trimmed), name != known.publicName {
            (person.firstName, person.lastName) = (name.isEmpty ? nil : name, nil)
        }
        if let locale = attributes["locale"]?.string {
            guard isLanguageTag(locale) else { return invalid("locale") }
            person.language = locale
        }
        if person != known {
            let refusal = try await Commands(call).attempt(
                ChangePerson(
                    account: account, person: person,
                    addresses: call.context.mint.addresses(of: person), isConfirmed: true,
                    next: call.context.nextSubjects()), as: .installation(client))
            switch refusal {
            case nil: break
            case .invalid?: return invalid("public_name")
            case .mailboxTaken?: return invalid("email")
            case .notFound?: throw Problem(.noSuchAccount)
            }
        }
        return try await call.instanceDocument(isWhole: true)
    }

    /// In the form of RFC 5646, with an underscore as well: pages and mails in a language that is not written
    /// here are in the realm's.
    private static func isLanguageTag(_ text: String) -> Bool {
        let parts = text.utf8.split(omittingEmptySubsequences: false) { $0 == 0x2D || $0 == 0x5F }
        guard text.utf8.count <= 35, let first = parts.first, (2...8).contains(first.count),
            first.allSatisfy({ (0x61...0x7A).contains($0 | 0x20) })
        else { return false }
        return parts.dropFirst().allSatisfy { part in
            (1...8).contains(part.count)
                && part.allSatisfy {
                    (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0)
                }
        }
    }

    private static func invalid(_ name: String) -> Response {
        .jsonAPIError(
            .unprocessable, "Invalid Parameter", "\(name) is not valid", parameter: name)
    }

    private static let sign = Route<RealmContext>(
        .put, "/settings/instance/sign_tos", id: "signTerms", tag: "Flagship",
        summary: "Records that the owner agrees to the terms.", right: .nothing, voice: .flagship,
        answer: .done("Heard."),
        refusals: refusals
    ) { call throws(Problem) in
        let client = try await call.everything().session.terms.client
        switch try await Commands(call).attempt(OwnerChange.signTerms(), as: .installation(client))
        {
        case nil: return Response(status: .noContent)
        case .noOwner?: throw Problem.said(.forbidden, "Not authorized")
        }
    }
}

extension Call<RealmContext> {
    /// What is known of an account's person.
    func knownOwner(of account: UUID) async throws(Problem) -> Person? {
        KnownPerson(try await RealmLookups(context).events(of: account))?.person
    }

    fileprivate func ownersPerson() async throws(Problem) -> (account: UUID, person: Person) {
        guard
            let account = try await RealmLookups(context).folded(Owner.self, Owner.stream).account,
            let person = try await knownOwner(of: account)
        else { throw Problem.said(.forbidden, "Not authorized") }
        return (account, person)
    }

    fileprivate func instanceDocument(isWhole: Bool) async throws(Problem) -> Response {
        let (_, person) = try await ownersPerson()
        let (owner, passphrase) = try await owner()
        let settings = context.place.settings
        var attributes: JSONObject = [
            "locale": .string(person.language ?? language.rawValue),
            "public_name": .string(person.publicName),
            "password_defined": .bool(passphrase.hash != nil), "context": "default",
            "onboarding_finished": .bool(owner.isOnboarded),
        ]
        if isWhole {
            attributes["email"] = .string(person.email ?? "")
            attributes["auth_mode"] = .string(owner.needsMailedCode ? "two_factor_mail" : "basic")
        }
        if let app = settings[SettingCatalogue.defaultWebApp], !app.isEmpty {
            attributes["default_redirection"] = .string("\(app)/")
        }
        return .jsonAPI(
            .ok,
            [
                "data": [
                    "type": "io.cozy.settings", "id": "io.cozy.settings.instance",
                    "attributes": .object(attributes), "meta": [:],
                    "links": ["self": "/settings/instance"],
                ]
            ])
    }
}

extension Person {
    /// As the apps show it.
    var publicName: String {
        [firstName, lastName].compactMap { $0 }.joined(separator: " ")
    }
}
