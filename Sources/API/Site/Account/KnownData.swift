internal import EventSourcing
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// The export of a user's data.
extension Call<RealmContext> {
    /// All that is known of a user (GDPR article 15 and 20), decrypted for that user.
    func knownData(of account: UUID) async throws(Problem) -> JSON {
        let events = try await RealmLookups(context).events(of: account)
        let history = try await wholeHistory(of: account)
        let factor = try await SecondFactors(self).state(of: account)
        let passphrase = try await RealmLookups(context).folded(
            Passphrase.self, Passphrase.stream(of: account))
        return [
            "account": .object(
                try await PersonClaims(context).claims(of: account, ["email", "phone", "profile"])),
            "email_addresses": .array(addresses("email", events)),
            "phone_numbers": .array(addresses("phone", events)),
            "passkeys": .array(try await knownPasskeys(of: account)),
            "authenticator_app": .bool(factor.enrolled != nil),
            "recovery_codes_left": .integer(Int64(factor.recoveryCodes.count)),
            "passphrase_set_at": passphrase.setAt.map { .string($0.description) } ?? .null,
            "browsers": .array(try await knownBrowsers(of: account)),
            "apps": .array(try await RealmLookups(context).openSessions(of: account).map(known)),
            "consents": .array(try await knownConsents(of: account)),
            "sign_ins": .array(history.map(LoginView.shape.json)),
            "events": .array(events.map(known)),
        ]
    }

    private func wholeHistory(of account: UUID) async throws(Problem) -> [LoginView] {
        var all: [LoginView] = []
        while true {
            let place = all.last.map { LoginPlace(at: $0.at, position: $0.position) }
            let page = try await context.ask(
                LoginView.history, (LoginSelection(account: account), after: place, limit: 1000))
            all += page
            guard page.count == 1000 else { return all }
        }
    }

    /// Those that the account has or had, with the moment from which on.
    private func addresses(_ kind: String, _ events: [Recorded]) -> [JSON] {
        var last: String?
        return events.compactMap { recorded in
            guard case .opened(let personal) = recorded.personal,
                let address = personal[kind]?.string, address != last
            else { return nil }
            last = address
            return ["address": .string(address), "since": .string(recorded.at.description)]
        }
    }

    private func knownPasskeys(of account: UUID) async throws(Problem) -> [JSON] {
        var known: [JSON] = []
        for passkey in try await RealmLookups(context).passkeys(of: account) {
            var members: JSONObject = [
                "name": .string(try await RealmLookups(context).name(of: passkey)),
                "enrolled_at": .string(passkey.enrolledAt.description),
            ]
            members["used_at"] = passkey.usedAt.map { .string($0.description) }
            known.append(.object(members))
        }
        return known
    }

    private func knownBrowsers(of account: UUID) async throws(Problem) -> [JSON] {
        try await RealmLookups(context).openBrowsers(of: account).map { browser in
            [
                "signed_in_at": .string(browser.terms.openedAt.description),
                "device": browser.terms.from.device.map { .string($0) } ?? .null,
                "source": browser.terms.from.source.map { .string($0) } ?? .null,
                "method": .string(browser.terms.method.rawValue),
            ]
        }
    }

    private func knownConsents(of account: UUID) async throws(Problem) -> [JSON] {
        let all = try await RealmLookups(context).consents(of: account).map(\.given)
        let names = try await names(ofClients: all.map(\.clientID))
        return all.map { given in
            var members = known(given.agreed)
            members["client"] = .string(given.clientID)
            members["client_name"] = .string(names[given.clientID] ?? given.clientID)
            members["given_at"] = .string(given.at.description)
            members["places"] = .array(
                given.places.map { placed in
                    var members = known(placed.agreed)
                    members["place"] = .string(placed.place)
                    return .object(members)
                })
            return .object(members)
        }
    }

    private func known(_ agreed: Agreement) -> JSONObject {
        [
            "scope": .array(agreed.scope.map { .string($0) }),
            "resources": .array(agreed.resources.map { .string($0) }),
        ]
    }

    private func known(_ session: OpenSessionView) -> JSON {
        [
            "client": .string(session.terms.clientID),
            "scope": .array(session.terms.scope.map { .string($0) }),
            "device": session.terms.from.device.map { .string($0) } ?? .null,
            "source": session.terms.from.source.map { .string($0) } ?? .null,
            "since": .string(session.openedAt.description),
            "last_used_at": .string(session.lastUsedAt.description),
        ]
    }

    private func known(_ recorded: Recorded) -> JSON {
        let members = recorded.shownFields.merging(recorded.personalFields(for: .person)) { $1 }
        return [
            "what": .string(recorded.name), "at": .string(recorded.at.description),
            "data": .object(members),
        ]
    }
}
