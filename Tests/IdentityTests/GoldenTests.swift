import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

/// One of every event, with every field that it can have.
func samples() throws -> [any Event] {
    let acme = try #require(RealmID("acme"))
    let metadata = try ClientMetadata([
        "client_name": "Web", "redirect_uris": ["https://web.example.org/back"],
        "grant_types": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_method": "client_secret_post", "scope": "openid email",
        "contacts": ["ada@example.org"], "client_uri": "https://web.example.org",
        "logo_uri": "https://web.example.org/logo", "policy_uri": "https://web.example.org/policy",
        "tos_uri": "https://web.example.org/terms", "jwks_uri": "https://web.example.org/keys",
        "software_id": "web", "software_version": "1.0",
        "software_statement": "a.b.c", "access_token_lifetime": 600,
        "refresh_token_lifetime": 86_400, "app_id": "00000000-0000-0002-0000-000000000002",
        "webauthn_rp_id": "passkeys.example.org",
        "audiences": ["https://api.example.org"], "introspects_all_tokens": true,
        "forwards_addresses": true, "client_assertion_for_token_url": true,
        "dpop_bound_access_tokens": true,
        "token_exchange": "delegation", "exchange_targets": ["https://b.example.org"],
        "may_act": ["gateway"], "resources": ["https://c.example.org"],
        "resources_listed_only": true, "introspection_signed_response_alg": "ES256",
        "sector_identifier_uri": "https://web.example.org/sector", "subject_type": "pairwise",
        "userinfo_signed_response_alg": "ES256", "require_pushed_authorization_requests": true,
        "require_signed_request_object": true, "request_object_signing_alg": "ES256",
        "initiate_login_uri": "https://web.example.org/begin", "default_max_age": 600,
        "default_acr_values": ["urn:modgud:acr:multi"],
        "post_logout_redirect_uris": ["https://web.example.org/bye"],
        "backchannel_logout_uri": "https://web.example.org/logout",
        "backchannel_logout_session_required": true,
        "client_kind": "mobile", "client_os": "iOS", "notification_platform": "ios",
        "notification_device_token": "0011", "notifications": ["news": ["collapsible": true]],
    ])
    let keyed = try ClientMetadata([
        "grant_types": ["client_credentials"], "token_endpoint_auth_method": "private_key_jwt",
        "jwks": ["keys": [["kty": "OKP", "crv": "Ed25519", "x": "AA"]]],
        "federation_endpoint": "https://moodle.example.org/token",
        "federation_attributes": ["email", "affiliations"],
        "assertion_signed_response_alg": "ES256",
        "assertion_encrypted_response_alg": "ECDH-ES",
        "service_description": ["engineLink": "https://moodle.example.org/", "apis": [:]],
        "service_description_uri": "https://moodle.example.org",
    ])
    return [
        RealmEvent.created(displayName: "Acme"),
        RealmEvent.settingsChanged(["native_grants": true, "mail_from": .null, "otp_attempts": 5]),
        RealmEvent.disabled, RealmEvent.enabled, RealmEvent.subjectErased(client),
        LogEvent.lossAccepted(AcceptedLoss(size: 97, epoch: 2, sealed: 46, head: 51)),
        HostEvent.assigned(host: "login.example.org", realm: acme), HostEvent.released,
        AppEvent.created(slug: "shop", name: "Shop"),
        AppEvent.updated(.init(slug: "store", name: "Store", settings: ["native_grants": true])),
        AppEvent.deleted,
        ClientEvent.registered(clientID: "web", metadata: metadata, secret: try digest(1)),
        ClientEvent.registered(clientID: "job", metadata: keyed, secret: nil),
        ClientEvent.updated(metadata), ClientEvent.updated(keyed),
        ClientEvent.secretRotated(try digest(2)), ClientEvent.disabled, ClientEvent.enabled,
        ClientEvent.deleted,
        AdminKeyEvent.created(name: "Ada", digest: try digest(1), scope: .only([acme])),
        AdminKeyEvent.created(name: "Ada", digest: try digest(1), scope: .all),
        AdminKeyEvent.created(
            name: "Ada", digest: try digest(1), scope: .all,
            permissions: .only([.eventsRead, .auditRead])),
        AdminKeyEvent.revoked, AdminRefusalEvent.refused(key: key, reason: .wrongSecret),
    ] + (try signInSamples()) + (try factorSamples()) + (try browserSamples())
        + passphraseSamples() + (try flagshipSamples()) + removalSamples()
        + [DelegatedCodeEvent.issued(stampedDelegatedCode)]
}

private func signInSamples() throws -> [any Event] {
    let person = Person(
        email: "ada@example.org", phone: "+41781234567", firstName: "Ada", lastName: "Byron",
        language: "en",
        externalID: "4711")
    let issued = IssuedCode(
        id: code, purpose: .registration, digest: try digest(3), app: app, issuedAt: noon,
        expiresAt: noon.adding(seconds: 600), person: person)
    var moving = issued
    moving.base = "https://id.example.org/move?token="
    (moving.account, moving.source, moving.generation) = (account, "AAAA", 1)
    moving.repeated = session
    let refused = RefusedSignIn(
        method: .nativeOTP, reason: "invalid_code", account: account, client: client,
        clientID: "web", app: app,
        from: SignInPlace(source: "AAAA", device: "iPhone", channel: .sms, location: zurich),
        count: 12)
    return [
        AccountEvent.registered(
            mailbox: mailbox, isConfirmed: true, origin: .administrator, person: person),
        AccountEvent.imported(
            AccountImport(source: .auth0, foreignID: "auth0|4711", createdAt: noon)),
        AccountEvent.mailboxConfirmed, AccountEvent.personChanged(person),
        AccountEvent.rolesChanged(GivenRoles(["https://api.example.org": ["editor"]])),
        AccountEvent.mailboxChanged(
            mailbox: mailbox, isConfirmed: true, left: mailbox, mail: code),
        AccountEvent.addressesChanged(
            Addresses(mailbox: mailbox, phone: code), left: [client], mail: code),
        AccountEvent.disabled(mail: code), AccountEvent.enabled,
        AccountEvent.stampRotated(mail: code),
        AccountEvent.deletionScheduled(due: noon, mail: code, base: "https://id.example/keep"),
        AccountEvent.deletionCancelled, AccountEvent.deleted(subjects: [mailbox]),
        AccountEvent.erased, MailboxEvent.assigned(account),
        MailboxEvent.released(account, next: client), MailboxEvent.codeIssued(issued),
        MailboxEvent.codeIssued(moving), MailboxEvent.codeRefused(code, at: noon),
        MailboxEvent.codeRenamed(code, person, source: "AAAA"), MailboxEvent.codeRedeemed(code),
        SessionEvent.opened(sessionTerms()), SessionEvent.refreshed(generation: 1, at: noon),
        SessionEvent.refreshed(generation: 2, at: noon, key: "k1"),
        SessionEvent.refreshed(generation: 3, at: noon, parent: 1), SessionEvent.ended(.reuse),
        SessionEvent.ended(
            .codeReuse, from: SignInPlace(source: "s", device: "iPhone", location: zurich)),
        SessionEvent.ended(
            .loggedOut, notice: NoticeOrder(id: code, issuer: "https://id.example.org")),
        LogoutNoticeEvent.delivered(attempt: 1),
        LogoutNoticeEvent.deferred(attempt: 1, until: noon, code: 503),
        LogoutNoticeEvent.failed(attempt: 7, code: 400),
        SessionEvent.refused(refused),
        DisclosureEvent.made(
            .person, accounts: [account], reason: "Incident 4711"),
        CaseFileEvent.issued(
            IssuedCaseFile(
                about: .account, id: account.description, positions: 12, opened: 3,
                digest: "RBNvo1WzZ4oRRq0W9-hknpT7T8If536DEMBg9hyq_4o", reason: "Incident 4711")),
        CaseFileEvent.issued(
            IssuedCaseFile(
                about: .client, id: client.description, positions: 1, opened: 0,
                digest: "RBNvo1WzZ4oRRq0W9-hknpT7T8If536DEMBg9hyq_4o", reason: "Incident 4711")),
        DisclosureEvent.streamed(
            StreamedBatch(subscription: client, positions: 4...9, subjects: [account])),
        MailEvent.sent(attempt: 1, by: .sms),
        MailEvent.deferred(attempt: 1, until: noon, code: 451),
        MailEvent.failed(attempt: 2, code: 550), MailEvent.requeued,
        SigningKeyEvent.published(signingKey("a")), SigningKeyEvent.activated("a"),
        SigningKeyEvent.retired("a", at: noon), SigningKeyEvent.removed("a"),
        enrolled(), PasskeyEvent.enrollmentRefused(account: account, reason: "signature"),
        PasskeyEvent.used(counter: 1, isBackedUp: true, at: noon),
        PasskeyEvent.renamed("Phone", account: account),
        PasskeyEvent.removed(account: account, mail: code),
    ] + registrationSamples()
}

let zurich = GeoLocation(
    country: "CH", asn: 3303, city: "Zurich",
    coordinates: GeoCoordinates(latitude: 47.3769, longitude: 8.5417))

func sessionTerms() -> SessionTerms {
    var terms = SessionTerms(
        account: account, stamp: SecurityStamp(number: 1, moves: 2), client: client,
        clientID: "web", app: app, scope: ["openid"],
        resources: ["https://api.example.org"], factors: [.mailedCode], openedAt: noon,
        expiresAt: noon.adding(seconds: 86_400), isOffline: true,
        from: SignInPlace(source: "AAAA", device: "iPhone", channel: .sms, location: zurich),
        method: .nativeOTP, key: "AAAA")
    terms.exchange = TokenExchange(origin: session, actors: ["gateway"], impersonator: "desk")
    terms.authenticatedAt = noon
    terms.browser = code
    terms.sector = "web.example.org"
    terms.claims = ["email"]
    terms.issuer = "https://id.example.org"
    terms.assertionIssuer = "https://a.example"
    terms.webApp = app
    terms.federation = FederatedToken(
        holder: .application, keyID: "AbCdEfGhIj", device: code, superiors: [session],
        application: "org.example.notes", confirmation: ["kty": "EC", "kid": "k1"])
    terms.opener = Opener(installation: client, session: session)
    return terms
}

private func registrationSamples() -> [any Event] {
    let terms = RegistrationTerms(label: "Partners", uses: 2, scope: ["jobs"], expiresAt: noon)
    let agreed = Agreement(scope: ["openid"], resources: ["https://api.example.org"])
    var approval = DeviceApproval(
        account: account, stamp: SecurityStamp(number: 1, moves: 2), factors: [.mailedLink],
        signedInAt: noon, at: noon)
    approval.place = .browser(session)
    var approvedInApp = approval
    approvedInApp.place = .session(session)
    return [
        ConsentEvent.given(
            GivenConsent(
                account: account, client: client, clientID: "web",
                agreed: Agreement(scope: ["openid"]), at: noon)),
        ConsentEvent.given(
            GivenConsent(
                account: account, client: client, clientID: "web", agreed: agreed,
                places: [PlacedAgreement("web.example.org", agreed)], at: noon)),
        ConsentEvent.withdrawn(account: account, client: client),
        PushedRequestEvent.used(account: account, client: client),
        RegistrationTokenEvent.created(terms),
        RegistrationTokenEvent.used(client: client, at: noon),
        RegistrationTokenEvent.revoked,
        DeviceEvent.requested(
            DeviceTerms(
                client: client, clientID: "web", app: app, scope: ["openid"],
                resources: ["https://api.example.org"], expiresAt: noon)),
        DeviceEvent.approved(approval), DeviceEvent.approved(approvedInApp),
        DeviceEvent.denied(account: account), DeviceEvent.redeemed,
        MailEvent.deferred(attempt: 1, until: noon, code: 0, reason: .notConnected),
        MailEvent.failed(attempt: 2, code: 550, reason: .refused),
    ]
}

private func flagshipSamples() throws -> [any Event] {
    let derived = DerivedPassphrase(
        rounds: 650_000, hash: "scrypt$…", hint: "otters", key: "a", publicKey: "b",
        privateKey: "c")
    var opening = SessionCodeTerms(
        account: app, stamp: SecurityStamp(number: 1, moves: 2),
        opener: Opener(installation: client, session: app, browser: code), factors: [.mailedLink],
        expiresAt: noon)
    opening.webApp = app
    return [
        ClientEvent.adopted(atOnboarding: true),
        ClientEvent.certified(
            .appAttest, at: noon, attestation: client,
            notice: CertificationNotice(account: app, clientName: "Phone", mail: client)),
        ClientEvent.certificationRevoked(.metadataChanged, at: noon),
        PassphraseEvent.derived(derived, account: app, mail: client, at: noon),
        OwnerEvent.appointed(app, token: client, generation: 1),
        OwnerEvent.onboarded(installation: client),
        OwnerEvent.invited(
            app, token: client, base: "https://a.example", mail: code, generation: 1),
        OwnerEvent.mailedCodesChanged(isNeeded: true),
        PassphraseEvent.hintChanged("otters", account: app),
        PassphraseEvent.hintRequested("otters", account: app, mail: client),
        MailedLinkEvent.issued(
            IssuedMailedLink(
                id: client, purpose: .passphraseReset, account: app, base: "https://a.example",
                returnPath: ReturnPath("/account"), issuedAt: noon, generation: 1)),
        MailedLinkEvent.used(client),
        OwnerEvent.deviceAdded(
            AddedDevice(installation: client, clientName: "Phone", account: app, mail: client)),
        OwnerEvent.deviceRemoved(client),
        OwnerEvent.moveRequested(PendingMove(mailbox: code, code: client, generation: 1)),
        OwnerEvent.moveEnded(code: client),
        OwnerEvent.mailboxVouched(TimedName(client, until: noon, generation: 1)),
        OwnerEvent.browserTrusted(TimedName(client, until: noon, generation: 1)),
        OwnerEvent.termsSigned, AccountEvent.proofsEnded,
        AccountEvent.mailboxMoved(
            mailbox: code, left: client, mail: app),
        AttestationEvent.accepted(installation: client, by: .playIntegrity, app: "org.example"),
        AttestationEvent.refused(installation: client, reason: "nonce"),
        AppKeyEvent.attested(AttestedKey(id: [1], publicKey: [4], app: "TEAM.org.example")),
        AppKeyEvent.used(counter: 1),
        IntegrityKeysEvent.set(verification: ["keys": []], decryption: ["AA"]),
        SessionCodeEvent.issued(opening), SessionCodeEvent.used(browser: client),
        MailedCodeEvent.issued(
            IssuedMailedCode(
                id: client, purpose: .certification, account: app, digest: try digest(1),
                issuedAt: noon, installation: code, generation: 1)),
        MailedCodeEvent.refused(client, at: noon), MailedCodeEvent.redeemed(client),
    ] + providerSamples() + federationSamples() + (try webAppSamples())
}

private func providerSamples() -> [any Event] {
    [
        ProviderEvent.configured(
            Provider(
                slug: "corporate", name: "Corporate", issuer: "https://login.example.org",
                clientID: "urd", secret: "s", scope: ["email"], takesAccessTokens: true)),
        ProviderEvent.removed("corporate"),
        ProviderIdentityEvent.linked(app, provider: "corporate", subject: "1", mail: client),
        ProviderIdentityEvent.unlinked(app, provider: "corporate"),
        AccountIdentityEvent.chosen(client, account: app),
        AccountIdentityEvent.dropped(account: app),
        UpstreamSessionEvent.used(.init(session: client, account: app, isBrowser: true)),
        UpstreamSessionEvent.ended,
        DelegatedCodeEvent.issued(
            DelegatedCodeTerms(
                identity: client, upstream: app, upstreamName: "s-1", provider: "corporate",
                expiresAt: noon)), DelegatedCodeEvent.used(installation: client),
        InstallationUpstreamEvent.bound(provider: "corporate", name: "s-1"),
    ]
}

private var stampedDelegatedCode: DelegatedCodeTerms {
    var terms = DelegatedCodeTerms(
        identity: client, upstream: nil, provider: "corporate", expiresAt: noon)
    terms.stamp = SecurityStamp(number: 1, moves: 2, removals: 3)
    return terms
}

private func webAppSamples() throws -> [any Event] {
    let app = try WebAppCard([
        "kind": "app", "slug": "drive", "name": "Drive", "name_prefix": "Acme",
        "editor": "Acme", "icon": "icon.svg", "permissions": ["files"],
        "origin": "https://drive.example.org", "flags": ["beta": true],
        "notifications": ["balance": ["stateful": true]],
    ])
    let konnector = try WebAppCard([
        "kind": "konnector", "slug": "bank", "name": "Bank",
        "start_url": "https://bank.example/s", "reconnect_url": "https://bank.example/r",
        "manage_url": "https://bank.example/m",
    ])
    let terms = ConnectionTerms(
        konnector: client, app: code, account: account, browser: session, step: .reconnect,
        connection: mailbox, state: "abc", expiresAt: noon)
    return [
        WebAppEvent.registered(app), WebAppEvent.registered(konnector), WebAppEvent.updated(app),
        WebAppEvent.updated(konnector), WebAppEvent.removed, ConnectionEvent.begun(terms),
        ConnectionEvent.finished(.connected("b-1"), account: account),
        ConnectionEvent.finished(.failed("access_denied"), account: account),
        InstallationUseEvent.synchronized(client, at: noon),
    ] + (try notificationSamples()) + signalSamples() + (try findingSamples())
        + (try phoneSamples() + tenantSamples() + signInMethodSamples()) + [
            SessionEvent.detached(NoticeOrder(id: code, issuer: "https://id.example.org")),
            ConfigurationEvent.applied(
                file: String(repeating: "0a", count: 32), by: "operator:ann", changes: 3),
        ]
}

@Suite struct `Every event` {
    /// First every shape, then every sample as it goes into the log.
    private func golden() throws -> [String] {
        let shapes = EventCatalogue.all.map(\.goldenLine).sorted()
        let written = try samples().map { sample in
            let event = NewEvent(sample, in: client)
            let open = String(decoding: JSON.object(event.open).canonical(), as: UTF8.self)
            let personal = String(decoding: JSON.object(event.personal).canonical(), as: UTF8.self)
            let request = String(decoding: JSON.object(event.request).canonical(), as: UTF8.self)
            return ([event.name, open] + [personal, request].filter { $0 != "{}" })
                .joined(separator: " ")
        }
        return shapes + [""] + written
    }

    @Test func `every event has the shape in the golden list`() throws {
        let text = try golden().joined(separator: "\n") + "\n"
        let expected = String(decoding: PackageResources.events_txt, as: UTF8.self)
        #expect(text == expected, "golden/events.txt should be:\n\(text)")
    }

    @Test func `every event is read back as it was written`() throws {
        func roundTrip<E: Event>(_ event: E) {
            let new = NewEvent(event, in: client)
            let recorded = Recorded(
                realm: .system, position: 1, stream: client, version: 1, name: new.name,
                revision: new.revision, at: Timestamp(microseconds: 0), command: .zero,
                subject: new.subject, actor: "system", client: nil, correlation: nil,
                leaf: .standIn(client, 1), open: new.open,
                personal: .opened(new.personal.merging(new.request) { own, _ in own }))
            #expect(E(recorded) == event)
        }
        for sample in try samples() { roundTrip(sample) }
    }

    @Test func `every event stands once per revision in the catalogue and in the samples`() throws {
        let lines = EventCatalogue.all.map { "\($0.name) \($0.revision)" }
        #expect(Set(lines).count == lines.count)
        #expect(Set(EventCatalogue.all.map(\.name)) == Set(try samples().map(\.name)))
        // The samples leave no field out, or the golden list would not show it.
        var shown: [String: Set<String>] = [:]
        for sample in try samples() {
            shown[sample.name, default: []].formUnion(sample.fields.keys)
        }
        for shape in EventCatalogue.all where shape.upcast == nil {
            #expect(shown[shape.name] == Set(shape.fields.map(\.name)), "\(shape.name)")
        }
    }

    @Test func `every event with a field of a wrong type is refused`() {
        #expect(RealmEvent(name: "realm.created", fields: [:]) == nil)
        #expect(RealmEvent(name: "realm.settings_changed", fields: ["changes": []]) == nil)
        #expect(RealmEvent(name: "realm.moved", fields: [:]) == nil)
        #expect(
            HostEvent(name: "host.assigned", fields: ["host": "a", "realm": "Not One"]) == nil)
        #expect(HostEvent(name: "host.moved", fields: [:]) == nil)
        #expect(AppEvent(name: "app.created", fields: ["slug": "a"]) == nil)
        #expect(AppEvent(name: "app.moved", fields: [:]) == nil)
        #expect(ClientEvent(name: "client.registered", fields: ["client_id": 1]) == nil)
        #expect(
            ClientEvent(
                name: "client.registered", fields: ["client_id": "a", "secret_digest": "AA"])
                == nil)
        #expect(ClientEvent(name: "client.updated", fields: ["grant_types": ["magic"]]) == nil)
        #expect(ClientEvent(name: "client.secret_rotated", fields: [:]) == nil)
        #expect(ClientEvent(name: "client.moved", fields: [:]) == nil)
        #expect(AdminKeyEvent(name: "admin_key.created", fields: ["name": "Ada"]) == nil)
        #expect(AdminKeyEvent(name: "admin_key.moved", fields: [:]) == nil)
        #expect(AdminRefusalEvent(name: "admin_key.refused", fields: ["reason": "x"]) == nil)
    }

    @Test func `every event about a client is read as written, whatever rules hold today`() throws {
        let event = ClientEvent(
            name: "client.updated",
            fields: [
                "redirect_uris": ["http://a.example"], "grant_types": [],
                "access_token_lifetime": 1, "since_removed": true,
            ])
        guard case .updated(let metadata) = event else {
            Issue.record("It was not read.")
            return
        }
        #expect(metadata.redirectURIs == ["http://a.example"])
        #expect(metadata.accessTokenLifetime == 1)
    }
}
