internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// Where the ceremonies of passkeys begin, and where one is enrolled. Signing in with it ends at the
/// token endpoint.
enum PasskeyRoutes {
    static let table: [Route<RealmContext>] = [begin, beginEnrollment, enroll]

    private static let refusals =
        Place.refusals + [.nativeGrantsDisabled, .passkeyUnavailable, .rateLimited]

    private static let begin = Route<RealmContext>(
        .post, "/connect/passkey/begin", id: "beginPasskeySignIn", tag: "Passkeys",
        summary: "Starts a passkey sign-in.",
        detail: "Nothing is kept until the answer comes to the token endpoint.", right: .nothing,
        voice: .native,
        body: .form(
            .object(
                .optional(
                    "client_id", .text(1...255),
                    "OAuth client id of the client that will redeem the assertion.")),
            example: ["client_id": "phone"]),
        answer: .ok(
            "A challenge.", PasskeyOptions.begun, example: PasskeyOptions.exampleOfBegun),
        refusals: refusals, traits: .needsForwardedAddress
    ) { call throws(Problem) in
        let name = call.body["client_id"]?.string
        let counter = RateCounter(call)
        try counter.count(.passkeyBegin, client: name.map(counter.atSource))
        let client = try await RealmLookups(call.context).client(named: name)
        let app = client?.metadata.appID
        try await call.requireNativeGrants(app: app)
        guard
            let party = try await RealmLookups(call.context).passkeyParty(
                app: app, domain: client?.metadata.passkeyDomain)
        else { throw Problem(.passkeyUnavailable) }
        return Ceremony(kind: .signIn, client: name, account: nil, relyingParty: party.id).begin(
            in: call.context
        ) { PasskeyOptions.request(challenge: $0, party) }
    }

    private static let beginEnrollment = Route<RealmContext>(
        .post, "/connect/passkey/enroll/begin", id: "beginPasskeyEnrollment", tag: "Passkeys",
        summary: "Starts the creation of a passkey for the signed-in user.", right: .account,
        voice: .native,
        answer: .ok(
            "A challenge.", PasskeyOptions.begun,
            example: [
                "ceremonyId": "0193a0e7-5e0c-7000-9000-2f6b1c1d9a10",
                "options": ["attestation": "none"],
            ]),
        refusals: refusals + [.reauthenticationRequired, .invalidEnrollment]
    ) { call throws(Problem) in
        let enrolling = try await call.enrolling()
        try await call.requireNativeGrants(app: enrolling.session.app)
        try RateCounter(call).count(.passkeyBegin, target: enrolling.account.description)
        let party = try enrolling.requireParty()
        if let limit = enrolling.session.isTooOld(at: call.context.clock.now(), party.settings) {
            throw .signInTooOld(limit)
        }
        let existing = try await RealmLookups(call.context).passkeys(of: enrolling.account)
        guard existing.count < Passkey.mostPerAccount else {
            throw Problem(.invalidEnrollment, "There are too many passkeys already.")
        }
        let user = try await RealmLookups(call.context).passkeyUser(enrolling.account)
        return enrolling.ceremony(party).begin(in: call.context) {
            PasskeyOptions.creation(challenge: $0, party, user: user, existing: existing)
        }
    }

    private static let enroll = Route<RealmContext>(
        .post, "/connect/passkey/enroll", id: "enrollPasskey", tag: "Passkeys",
        summary: "Completes the creation of a passkey.",
        detail: """
            Each attempt uses the ceremony up. The account's person is told \
            by mail.
            """, right: .account, voice: .native,
        body: Body(
            schema: .object(
                .optional("ceremonyId", .anything, "Id of the WebAuthn ceremony."),
                .optional(
                    "attestation", .anything, "Result of `navigator.credentials.create`.")),
            example: [
                "ceremonyId": "0193a0e7-5e0c-7000-9000-2f6b1c1d9a10",
                "attestation": ["type": "public-key"],
            ], maximumBytes: 256 * 1024),
        answer: .ok(
            "The passkey is enrolled.",
            .object(.required("Message", .text(1...200), "Message for the user.")),
            example: ["Message": "Passkey enrolled successfully."]),
        refusals: refusals + [.invalidEnrollment, .reauthenticationRequired, .invalidToken]
    ) { call throws(Problem) in
        let enrolling = try await call.enrolling()
        try await call.requireNativeGrants(app: enrolling.session.app)
        guard let id = call.body["ceremonyId"]?.string.flatMap({ UUID($0) }),
            let attestation = call.body["attestation"], !attestation.isNull
        else { throw Problem(.invalidEnrollment, "Invalid enrollment request.") }
        let party = try enrolling.requireParty()
        let ceremony = enrolling.ceremony(party)
        guard call.context.mint.isOurs(id, ceremony) else { throw .enrollmentExpired }
        try await PasskeyEnrollments(call).enroll(id, ceremony, attestation, enrolling, party)
        return .native(.ok, ["Message": "Passkey enrolled successfully."])
    }
}

extension Call<RealmContext> {
    /// A client that belongs to an app brings that app's settings with it, as it does at the token
    /// endpoint.
    func requireNativeGrants(app: UUID?) async throws(Problem) {
        guard let settings = try await RealmLookups(context).settings(ofApp: app),
            settings[SettingCatalogue.nativeGrants]
        else { throw Problem(.nativeGrantsDisabled) }
    }

    /// The same for a signed-in user: in the client's app as it is now, else where the session
    /// began.
    func requireNativeGrantsOfSession() async throws(Problem) {
        let terms = try caller.signedIn.session.terms
        let client = try await RealmLookups(context).client(named: terms.clientID)
        try await requireNativeGrants(app: client?.metadata.appID ?? terms.app)
    }

    func enrolling() async throws(Problem) -> PasskeyEnrollment {
        let (account, session) = try caller.signedIn
        let terms = session.terms
        let client = try await RealmLookups(context).client(named: terms.clientID)
        let app = client?.metadata.appID ?? terms.app
        return PasskeyEnrollment(
            account: account, client: terms.clientID,
            session: SignedIn(client: terms.client, app: app, at: terms.signedInAt),
            party: try await RealmLookups(context).passkeyParty(
                app: app, domain: client?.metadata.passkeyDomain))
    }
}
