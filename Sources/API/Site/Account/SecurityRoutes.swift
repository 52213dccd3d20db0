internal import HTML
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// How one signs in: passkeys and the authenticator app.
enum SecurityRoutes {
    static let table: [Route<RealmContext>] = [show, begin, add, rename, remove]

    private static let show = AccountRoute.show(
        "/account/security", id: "showSecurity", "Shows the sign-in methods of the account."
    ) { call, frame throws(Problem) in
        try await page(call, frame)
    }

    /// An error, shown beside the form that caused it.
    enum FormError {
        case passkey(String)
        /// An invalid name for a passkey.
        case name(of: UUID, typed: String, String)
        case authenticator(TOTPPageRoutes.Change, String)
        case passphrase(String)
    }

    static func page(
        _ call: Call<RealmContext>, _ frame: AccountFrame, wrong: FormError? = nil
    ) async throws(Problem) -> Response {
        let say = frame.say
        var passkeys: [(view: PasskeyView, name: String)] = []
        for passkey in try await RealmLookups(call.context).passkeys(of: frame.account) {
            passkeys.append((passkey, try await RealmLookups(call.context).name(of: passkey)))
        }
        let listed = passkeys
        let factor = try await SecondFactors(call).state(of: frame.account)
        let passphrase = try await RealmLookups(call.context).folded(
            Passphrase.self, Passphrase.stream(of: frame.account))
        let party = call.pageParty
        let connections = try await call.connections(of: frame.account)
        let email = try await PersonClaims(call.context).address(of: frame.account)
        return frame.page(
            .security, status: wrong == nil ? .ok : .badRequest,
            script: party == nil ? nil : AssetRoutes.scriptPath,
            leadsAway: !connections.isEmpty
        ) {
            Page.card {
                HTML.element(.h1) { say("Security", "Sicherheit") }
                AskingParts.signedIn(as: email ?? "", say)
                if case .passkey(let wrong) = wrong { Parts.note(.bad, wrong) }
                // Where none can be added and there is none, there is nothing to say of them.
                if party != nil || !listed.isEmpty { passkeyPart(listed, party, frame, wrong) }
            }
            TOTPPageRoutes.card(factor, frame, wrong: wrong)
            if call.context.place.settings.offers(.passphrase) || passphrase.hash != nil {
                PassphraseRoutes.card(passphrase, frame, email, wrong: wrong)
            }
            if !connections.isEmpty { ProviderCard.html(connections, frame) }
        }
    }

    // MARK: - Passkeys

    @HTMLBuilder
    private static func passkeyPart(
        _ listed: [(view: PasskeyView, name: String)], _ party: PasskeyParty?,
        _ frame: AccountFrame, _ wrong: FormError?
    ) -> HTML {
        HTML.element(.h2) { "Passkeys" }
        HTML.element(.p, .class("soft")) {
            frame.say(
                "Sign in with your fingerprint, face or screen lock. Works only on this site, so it can't be phished.",
                "Melden Sie sich mit Fingerabdruck, Gesicht oder Bildschirmsperre an. Das geht nur auf dieser Website und schützt so vor Phishing."
            )
        }
        if !listed.isEmpty {
            HTML.element(.ul, .class("items")) {
                for passkey in listed { line(passkey.view, passkey.name, frame, wrong) }
            }
        }
        if party != nil { enrol(frame) }
    }

    private static let begin = Route<RealmContext>(
        .post, "/account/passkeys/begin", id: "beginPasskeyOnPage", tag: "Pages",
        summary: "Starts the creation of a passkey.", right: .nothing, voice: .native,
        body: .page([]),
        answer: .ok("A challenge.", PasskeyOptions.begun, example: PasskeyOptions.exampleOfBegun),
        refusals: Page.refusals + [
            .passkeyUnavailable, .invalidEnrollment, .reauthenticationRequired,
        ]
    ) { call throws(Problem) in
        guard let browser = try await PageRequest(call).submission().browser else {
            throw Problem(.reauthenticationRequired)
        }
        guard PageRequest(call).isRecent(browser) else {
            throw Problem(.reauthenticationRequired)
        }
        guard let party = call.pageParty else { throw Problem(.passkeyUnavailable) }
        try RateCounter(call).count(.passkeyBegin, target: browser.subject.description)
        let existing = try await RealmLookups(call.context).passkeys(of: browser.subject)
        guard existing.count < Passkey.mostPerAccount else {
            throw Problem(.invalidEnrollment, "There are too many passkeys already.")
        }
        let user = try await RealmLookups(call.context).passkeyUser(browser.subject)
        return ceremony(browser, party).begin(in: call.context) {
            PasskeyOptions.creation(
                challenge: $0, party, user: user, existing: existing, namesNobody: true)
        }
    }

    private static func ceremony(_ browser: SignedInBrowser, _ party: PasskeyParty) -> Ceremony {
        Ceremony(
            kind: .enrollment, client: "page \(browser.id)", account: browser.subject,
            relyingParty: party.id)
    }

    private static let add = AccountRoute.change(
        "/account/passkeys/add", id: "addPasskey", "Ends the making of a passkey.",
        [
            .optional("ceremony", .text(0...64), "Id of the WebAuthn ceremony."),
            .optional(
                "attestation", .text(0...131_072),
                "Result of `navigator.credentials.create`, as JSON."),
        ], from: .security
    ) { call, frame throws(Problem) in
        guard let party = call.pageParty else { throw Problem(.noSuchRoute) }
        let ceremony = ceremony(frame.browser, party)
        let attestation = call.body["attestation"]?.string.flatMap {
            try? JSON.parse(Array($0.utf8))
        }
        if let id = call.body["ceremony"]?.string.flatMap({ UUID($0) }), let attestation,
            call.context.mint.isOurs(id, ceremony)
        {
            let enrolling = PasskeyEnrollment(
                account: frame.account, client: nil,
                session: call.signedIn(frame.browser),
                party: party, page: "page \(frame.browser.id)")
            do throws(Problem) {
                try await PasskeyEnrollments(call).enroll(
                    id, ceremony, attestation, enrolling, party)
                return .seeOther(.security, .passkeyAdded)
            } catch {
                guard error.kind == .invalidEnrollment else { throw error }
            }
        }
        let wrong = frame.say(
            "This passkey could not be added. Please try again.",
            "Dieser Passkey ließ sich nicht hinzufügen. Bitte versuchen Sie es noch einmal.")
        return try await page(call, frame, wrong: .passkey(wrong))
    }

    private static let rename = AccountRoute.change(
        "/account/passkeys/rename", id: "renamePasskeyOnPage", "Names a passkey.",
        [
            .optional("passkey", .text(0...64), "Passkey id."),
            .optional("name", .text(0...400), "Display name, chosen by the owner of the passkey."),
        ], from: .security, isSensitive: false
    ) { call, frame throws(Problem) in
        guard let passkey = call.body["passkey"]?.string.flatMap({ UUID($0) }) else {
            throw Problem(.noSuchPasskey)
        }
        let name = trimmed(call.body["name"]?.string ?? "")
        let rejection = try await Commands(call).attempt(
            PasskeyChange.rename(passkey, account: frame.account, name: name),
            as: .browser(frame.browser))
        guard let rejection else { return .seeOther(.security, .passkeyRenamed) }
        guard case .invalid = rejection else { throw Problem(.noSuchPasskey) }
        let say = frame.say
        let wrong =
            name.isEmpty ? say("Enter a name.", "Geben Sie einen Namen ein.") : say.unfitName
        return try await page(
            call, frame, wrong: .name(of: passkey, typed: name, wrong))
    }

    private static let remove = AccountRoute.change(
        "/account/passkeys/remove", id: "removePasskeyOnPage", "Removes a passkey.",
        [.optional("passkey", .text(0...64), "Passkey id.")], from: .security
    ) { call, frame throws(Problem) in
        guard let passkey = call.body["passkey"]?.string.flatMap({ UUID($0) }) else {
            throw Problem(.noSuchPasskey)
        }
        try await Commands(call).dispatch(
            DeletePasskey(
                passkey: passkey, account: frame.account,
                session: call.signedIn(frame.browser),
                mail: call.context.newID(), now: call.context.clock.now()),
            as: .browser(frame.browser)
        ) { rejection in
            switch rejection {
            case .notFound: Problem(.noSuchPasskey)
            case .signInTooOld(let limit): .signInTooOld(limit)
            }
        }
        return .seeOther(.security, .passkeyRemoved)
    }
}
