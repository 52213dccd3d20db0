internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// What the apps call the instance: the owner, and the settings of their realm.
enum InstanceRoutes {
    static let table: [Route<RealmContext>] = [get, update, sign]

    private static let refusals: [ProblemKind] =
        Place.refusals + [.invalidRequest, .invalidClient, .forbidden]

    private static let get = Route<RealmContext>(
        .get, "/settings/instance", id: "getInstance", tag: "Flagship",
        summary: "Shows the owner, and how they sign in.", right: .nothing, voice: .flagship,
        answer: .ok("In JSON:API.", .openObject, example: ["data": [:]]), refusals: refusals
    ) { call throws(Problem) in
        _ = try await call.everything()
        return try await call.instanceDocument()
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
            guard let language = Language(rawValue: locale) else { return invalid("locale") }
            person.language = language.rawValue
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
        return try await call.instanceDocument()
    }

    private static func invalid(_ name: String) -> Response {
        .jsonAPIError(
            .unprocessable, "Invalid Parameter", "\(name) is not valid", parameter: name)
    }

    private static let sign = Route<RealmContext>(
        .put, "/settings/instance/sign_tos", id: "signTerms", tag: "Flagship",
        summary: "Records that the owner agrees to the terms.", right: .nothing, voice: .flagship,
        answer: Answer(status: .noContent, description: "Heard.", content: .nothing),
        refusals: refusals
    ) { call throws(Problem) in
        let client = try await call.everything().session.terms.client
        switch try await Commands(call).attempt(SignTerms(), as: .installation(client)) {
        case nil: return Response(status: .noContent)
        case .noOwner?: throw Problem.said(.forbidden, "Not authorized")
        }
    }
}

extension Call<RealmContext> {
    fileprivate func ownersPerson() async throws(Problem) -> (account: UUID, person: Person) {
        guard
            let account = try await RealmLookups(context).folded(Owner.self, Owner.stream).account,
            let known = KnownPerson(try await RealmLookups(context).events(of: account))
        else { throw Problem.said(.forbidden, "Not authorized") }
        return (account, known.person)
    }

    fileprivate func instanceDocument() async throws(Problem) -> Response {
        let (_, person) = try await ownersPerson()
        let (owner, passphrase) = try await owner()
        let settings = context.place.settings
        var attributes: JSONObject = [
            "locale": .string(person.language ?? language.rawValue),
            "email": .string(person.email ?? ""), "public_name": .string(person.publicName),
            "auth_mode": .string(owner.needsMailedCode ? "two_factor_mail" : "basic"),
            "password_defined": .bool(passphrase.hash != nil), "context": "default",
            "onboarding_finished": .bool(owner.isOnboarded),
        ]
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
    fileprivate var publicName: String {
        [firstName, lastName].compactMap { $0 }.joined(separator: " ")
    }
}
