internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// The profile of the person who signed in on a device.
enum ProfileRoutes {
    static let table: [Route<RealmContext>] = [get, changePassphrase]

    private static let get = Route<RealmContext>(
        .get, "/eduid/user-profile", id: "getFederatedProfile", tag: "Federation",
        summary: "Shows the person's attributes and affiliations.",
        detail: "By a service's token: what that service is told.",
        right: .nothing, voice: .federation,
        answer: .ok(
            "The profiles: one.", .list(of: .openObject, 0...10),
            example: [
                [
                    "user_id": "ann@example.org", "userid": "ann@example.org",
                    "mailaddress": "ann@example.org", "attributes": ["email": "ann@example.org"],
                    "extra": ["email": "ann@example.org"], "affiliations": [],
                ]
            ]),
        refusals: FederationPaths.refusals
    ) { call throws(Problem) in
        let caller = try await RequestAuthorization(call).caller(.person, .service)
        guard
            let person = try await FederatedPerson.find(
                try caller.account, in: call.context, since: caller.began)
        else { throw Problem(.forbidden) }
        var attributes = Set(FederationAttribute.allCases)
        if caller.token.holder == .service {
            guard
                let service = try await FederationServices(call.context).find(
                    caller.session.terms.clientID)
            else { throw Problem(.forbidden) }
            attributes = service.attributes
        }
        let seesAffiliations = attributes.remove(.affiliations) != nil
        return .json(
            .ok,
            .array([
                person.profile(person.attributes(attributes), withAffiliations: seesAffiliations)
            ]))
    }

    private static let changePassphrase = Route<RealmContext>(
        .post, "/eduid/user-profile", id: "changeFederatedPassphrase", tag: "Federation",
        summary: "Changes the person's passphrase.", right: .nothing, voice: .federation,
        body: Body(
            schema: .object(
                .optional("oldpassword", .anything, "Current passphrase."),
                .optional("newpassword", .anything, "New passphrase.")),
            example: ["oldpassword": "…", "newpassword": "…"], maximumBytes: 64 * 1024),
        answer: .done("The passphrase is changed."),
        refusals: FederationPaths.refusals
    ) { call throws(Problem) in
        let caller = try await RequestAuthorization(call).caller(.person)
        return try await call.changePassphrase(try caller.account, caller)
    }
}

extension FederatedPerson {
    /// Apps of the reference server know the person's name, attributes and address by other words, which stand
    /// beside ours.
    fileprivate func profile(_ attributes: JSONObject, withAffiliations: Bool) -> JSON {
        var members: JSONObject = [
            "user_id": .string(subject), "userid": .string(subject),
            "attributes": .object(attributes), "extra": .object(attributes),
            "affiliations": .array(withAffiliations ? affiliations.map { .string($0) } : []),
        ]
        members["mailaddress"] = attributes[FederationAttribute.email.rawValue]
        return .object(members)
    }
}

extension Call<RealmContext> {
    fileprivate func changePassphrase(
        _ account: UUID, _ caller: FederatedCaller
    ) async throws(Problem) -> Response {
        let counter = RateCounter(self)
        try counter.count(.federationLogin, target: account.description)
        let notGood = Problem(.forbidden, "The old passphrase is not right.")
        let known = try await RealmLookups(context).folded(Account.self, account)
        guard let new = member("newpassword") else {
            throw Problem(.forbidden, "newpassword is required.")
        }
        guard let mailbox = known.mailbox, let old = member("oldpassword"),
            new.utf8.count <= 1024, old.utf8.count <= 1024
        else { throw notGood }
        let comparison = try await Passphrases(self).compare(old, for: mailbox).comparison
        let made = try await Passphrases(self).hash(ofNew: new, of: account)
        guard case .success(let hash) = made else {
            throw Problem(
                .forbidden,
                "The new passphrase is too short, too long or too easy to guess: use several unrelated "
                    + "words.")
        }
        let outcome = try await Commands(self).attempt(
            ChangePassphrase(
                account: account, session: caller.session.id, comparison: comparison, hash: hash,
                mail: context.newID(), now: context.clock.now()),
            as: caller.commandCaller)
        guard case .success(true) = outcome else { throw notGood }
        counter.giveBack()
        return Response(status: .noContent)
    }
}
