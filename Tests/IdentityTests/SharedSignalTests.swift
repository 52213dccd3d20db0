import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

private let person = UUID(high: 6, low: 6)

@Suite struct `Security events of CAEP and RISC` {
    private func signals(
        _ event: any Event, knowing facts: SignalFacts = SignalFacts(account: person),
        version: Int = 1, actor: String = "system"
    ) -> [Signal] {
        SharedSignals.signals(
            for: recorded(event, version: version, actor: actor), knowing: facts)
    }

    private func kinds(_ event: any Event, knowing facts: SignalFacts = SignalFacts())
        -> [SignalKind]
    {
        signals(event, knowing: facts).map(\.kind)
    }

    @Test func `an ended session is revoked for its user, by policy where a token was reused`()
        throws
    {
        let reused = try #require(signals(SessionEvent.ended(.reuse), actor: "client:web").first)
        #expect(reused.kind == .sessionRevoked && reused.claims.isEmpty)
        #expect(reused.subject == SignalSubject(user: person, session: client, device: nil))
        #expect(reused.initiator == .policy)
        #expect(reused.reason == "session.ended: reuse")
        #expect(reused.at == Timestamp(seconds: 1_800_000_500) && !reused.isOnRequest)
        let ended = signals(SessionEvent.ended(.administrator), actor: "admin:1").first
        #expect(ended?.initiator == .admin)
        let left = signals(SessionEvent.ended(.loggedOut), actor: "user:\(person)").first
        #expect(left?.initiator == .user)
        let lapsed = signals(SessionEvent.ended(.lapsed), actor: "system").first
        #expect(lapsed?.initiator == .system)
    }

    @Test func `a browser session that another takes the place of is not revoked`() {
        #expect(kinds(BrowserSessionEvent.ended(.replaced)).isEmpty)
        #expect(kinds(BrowserSessionEvent.ended(.handedOver)) == [.sessionRevoked])
        #expect(kinds(BrowserSessionEvent.ended(.signedOut)) == [.sessionRevoked])
    }

    @Test func `an account that is disabled or deleted loses all its sessions`() throws {
        #expect(kinds(AccountEvent.disabled()) == [.accountDisabled, .sessionRevoked])
        #expect(kinds(AccountEvent.deleted(subjects: [])) == [.accountPurged, .sessionRevoked])
        #expect(kinds(AccountEvent.enabled) == [.accountEnabled])
        #expect(kinds(AccountEvent.erased).isEmpty)
        // The stream is the account: no other fact is asked.
        let all = try #require(signals(AccountEvent.stampRotated(), knowing: SignalFacts()).first)
        #expect(all.subject == SignalSubject(user: client, session: nil, device: nil))
        #expect(all.reason == "account.stamp_rotated")
    }

    @Test func `a session is established with its factors, and that of a client alone is not`()
        throws
    {
        let terms = SessionTerms(
            account: person, stamp: 1, client: client, clientID: "web", app: nil, scope: [],
            resources: [], factors: [.mailedCode, .multiple], openedAt: noon, expiresAt: noon,
            isOffline: false)
        var browsing = terms
        browsing.browser = host
        let opened = try #require(signals(SessionEvent.opened(browsing)).first)
        #expect(opened.kind == .sessionEstablished && opened.at == noon)
        #expect(
            opened.claims == ["amr": ["otp", "mfa"], "ext_id": .string(host.description)])
        var own = terms
        own.account = nil
        #expect(kinds(SessionEvent.opened(own)).isEmpty)
        let refreshed = try #require(
            signals(SessionEvent.refreshed(generation: 1, at: noon)).first)
        #expect(refreshed.kind == .sessionPresented && refreshed.isOnRequest)
    }

    @Test(arguments: [
        (["pwd"], "pwd", "increase"), (["hwk", "mfa"], "mfa", "decrease"),
    ])
    func `a browser that goes on with other factors changes its level`(
        former: [String], level: String, direction: String
    ) throws {
        let terms = BrowserTerms(
            account: person, stamp: 1, app: nil, method: .passkey, factors: [.passkey],
            digest: try digest(1), openedAt: noon, expiresAt: noon)
        let facts = SignalFacts(formerFactors: former)
        let change = try #require(
            signals(BrowserSessionEvent.opened(terms), knowing: facts).last)
        #expect(change.kind == .assuranceLevelChange)
        #expect(
            change.claims == [
                "namespace": "RFC8176", "current_level": "hwk", "previous_level": .string(level),
                "change_direction": .string(direction),
            ])
        #expect(kinds(BrowserSessionEvent.opened(terms)) == [.sessionEstablished])
        let same = SignalFacts(formerFactors: ["hwk"])
        #expect(kinds(BrowserSessionEvent.opened(terms), knowing: same) == [.sessionEstablished])
    }

    @Test(arguments: [
        (["hybrid", "internal"], "fido2-platform"), (["internal", "usb"], "fido2-roaming"),
        (["nfc"], "fido2-roaming"), ([], "fido2-roaming"),
    ])
    func `a passkey is of its platform where its transports say so`(
        transports: [String], kind: String
    ) throws {
        let removed = try #require(
            signals(
                PasskeyEvent.removed(account: person, mail: nil),
                knowing: SignalFacts(transports: transports)
            ).first)
        #expect(
            removed.claims == ["change_type": "delete", "credential_type": .string(kind)])
    }

    @Test func `a new passkey tells its model`() throws {
        let sample = try #require(try samples().first { $0.name == "passkey.enrolled" })
        let enrolled = try #require(signals(sample).first)
        #expect(
            enrolled.claims == [
                "change_type": "create", "credential_type": "fido2-platform",
                "fido2_aaguid": "00000000-0000-0001-0000-000000000002",
            ])
        #expect(enrolled.reason == "passkey.enrolled")
    }

    @Test func `the first passphrase is created and a later one updated`() throws {
        let sample = try #require(try samples().first { $0.name == "passphrase.set" })
        func change(_ version: Int, _ had: Bool? = nil) -> JSON? {
            signals(sample, knowing: SignalFacts(hadPassphrase: had), version: version)
                .first?.claims["change_type"]
        }
        #expect(change(1) == "create" && change(2) == "update")
        #expect(change(5, false) == "create" && change(1, true) == "update")
    }

    @Test func `changed claims are told with values alone, and on request`() throws {
        let roles = AccountEvent.rolesChanged(GivenRoles(["api": ["editor"]]))
        #expect(kinds(roles).isEmpty)
        #expect(SharedSignals.changedClaims(of: "account.roles_changed") == ["resource_access"])
        let told = try #require(
            signals(
                roles, knowing: SignalFacts(claims: ["resource_access": [:], "email": "a@b"])
            ).first)
        #expect(told.kind == .tokenClaimsChange && told.isOnRequest)
        #expect(told.claims == ["claims": ["resource_access": [:]]])
    }

    @Test func `a certified installation complies, and one whose certification ends does not`()
        throws
    {
        let refused = AttestationEvent.refused(installation: client, reason: "nonce")
        #expect(kinds(refused).isEmpty)
        let ended = try #require(
            signals(ClientEvent.certificationRevoked(.revoked, at: noon)).first)
        #expect(ended.kind == .deviceComplianceChange)
        #expect(ended.subject == SignalSubject(user: person, session: nil, device: client))
        #expect(
            ended.claims == [
                "previous_status": "compliant", "current_status": "not-compliant",
            ])
    }

    @Test
    func
        `a finding is a signal where it changes its account's risk, by whoever raised or closed it`()
        throws
    {
        func told(_ more: JSONObject, by actor: String = FindingRules.actor) throws -> [Signal] {
            let fields: JSONObject = ["rule": "brute_force", "cause": "quiet"]
            let event = try #require(
                FindingEvent(name: "finding.closed", fields: fields.merging(more) { $1 }))
            return SharedSignals.signals(for: recorded(event, version: 2, actor: actor))
        }
        let account: JSONObject = ["account": .string(person.description)]
        let changed = account.merging(["former_risk": "medium", "risk": "low"]) { $1 }
        let signal = try #require(try told(changed).first)
        #expect(signal.kind == .riskLevelChange)
        #expect(signal.subject == SignalSubject(user: person, session: nil, device: nil))
        #expect(signal.initiator == .policy)
        #expect(try told(changed, by: "admin:\(key)").first?.initiator == .admin)
        #expect(
            signal.claims == [
                "principal": "USER", "current_level": "LOW", "previous_level": "MEDIUM",
                "risk_reason": .string(FindingRule.bruteForce.sentence),
            ])
        // Another finding about the account keeps the risk as it is.
        #expect(try told(account.merging(["former_risk": "high", "risk": "high"]) { $1 }).isEmpty)
        #expect(try told([:]).isEmpty)
    }

    @Test func `a mailed link starts a recovery where it is for the passphrase`() {
        func issued(_ purpose: MailedLink.Purpose) -> MailedLinkEvent {
            .issued(
                IssuedMailedLink(
                    id: client, purpose: purpose, account: person, base: "https://a.example",
                    returnPath: nil, issuedAt: noon, generation: 0))
        }
        #expect(kinds(issued(.passphraseReset)) == [.recoveryActivated])
        #expect(kinds(issued(.signIn)).isEmpty)
    }
}

/// What the claims of a type's own may be: those that it must have, and those that it may.
private let ownClaims: [SignalKind: (required: Set<String>, allowed: Set<String>)] = [
    .sessionRevoked: ([], []),
    .tokenClaimsChange: (["claims"], []),
    .credentialChange: (["credential_type", "change_type"], ["fido2_aaguid"]),
    .assuranceLevelChange: (
        ["namespace", "current_level"], ["previous_level", "change_direction"]
    ),
    .deviceComplianceChange: (["previous_status", "current_status"], []),
    .sessionEstablished: ([], ["amr", "ext_id"]),
    .sessionPresented: ([], ["ext_id"]),
    .riskLevelChange: (["principal", "current_level", "previous_level", "risk_reason"], []),
    .accountPurged: ([], []), .accountDisabled: ([], []), .accountEnabled: ([], []),
    .recoveryActivated: ([], []), .recoveryInformationChanged: ([], []),
]

/// Everything that a signal may have to know.
private let everyFact = SignalFacts(
    account: person, formerFactors: ["pwd"], transports: ["usb"],
    claims: [
        "email": "a@b.example", "email_verified": true, "given_name": "Ann", "locale": "de",
        "resource_access": [:],
    ])

@Suite struct `Each event type under each rule of its row` {
    @Test(arguments: SharedSignals.eventTypes)
    func `an event amounts to what its row says, with the claims of CAEP and no others`(
        _ type: String
    ) throws {
        let more: [any Event] = [
            BrowserSessionEvent.ended(.signedOut), BrowserSessionEvent.ended(.replaced),
        ]
        let events = try (samples() + more).filter { $0.name == type }.map { recorded($0) }
        #expect(!events.isEmpty)
        var stronger = everyFact
        stronger.formerFactors = ["pwd", "mfa"]
        for rule in SignalTable.rules(for: type) {
            let told = events.flatMap { event in
                [everyFact, stronger].flatMap { SharedSignals.signals(for: event, knowing: $0) }
            }.filter { $0.kind == rule.kind }
            #expect(!told.isEmpty, "no sample is a \(rule.kind)")
            for signal in told { try check(signal, rule, of: type) }
        }
        // And nothing beside it.
        let kinds = Set(SignalTable.rules(for: type).map(\.kind))
        for event in events {
            let signals = SharedSignals.signals(for: event, knowing: everyFact)
            #expect(kinds.isSuperset(of: signals.map(\.kind)))
            #expect(Set(signals.map(\.kind)).count == signals.count)
        }
    }

    private func check(_ signal: Signal, _ rule: SignalRule, of type: String) throws {
        let (required, allowed) = try #require(ownClaims[signal.kind])
        let names = Set(signal.claims.keys)
        #expect(names.isSuperset(of: required), "\(type)")
        #expect(names.subtracting(required).isSubset(of: allowed), "\(type)")
        // `reason_admin` is of the type and, where it has one, of its reason.
        #expect(signal.reason == type || signal.reason.hasPrefix("\(type): "))
        #expect(signal.isOnRequest == rule.isOnRequest)
        // What a browser is signed out of is named by its session.
        let isOfBrowser = type == "account.access_removed" && signal.subject.device == nil
        #expect((signal.subject.session != nil) == (rule.subject == .session || isOfBrowser))
        #expect((signal.subject.device != nil) == (rule.subject == .device && !isOfBrowser))
        #expect(signal.subject.user != nil, "\(type)")
        func text(_ name: String) -> String? { signal.claims[name]?.string }
        switch signal.kind {
        case .credentialChange:
            let types = ["password", "fido2-platform", "fido2-roaming", "app", "recovery-code"]
            #expect(types.contains(try #require(text("credential_type"))))
            #expect(["create", "update", "delete"].contains(try #require(text("change_type"))))
            #expect(rule.isOnRequest == (text("credential_type") == "recovery-code"))
        case .assuranceLevelChange:
            #expect(text("namespace") == "RFC8176")
            #expect(["increase", "decrease"].contains(try #require(text("change_direction"))))
        case .deviceComplianceChange:
            let states = [text("previous_status"), text("current_status")].compactMap { $0 }
            #expect(states.sorted() == ["compliant", "not-compliant"])
        case .riskLevelChange:
            #expect(text("principal") == "USER")
            #expect(text("current_level") != text("previous_level"))
        case .tokenClaimsChange:
            #expect(signal.claims["claims"]?.object?.isEmpty == false)
        case .sessionRevoked, .sessionEstablished, .sessionPresented, .accountPurged,
            .accountDisabled, .accountEnabled, .recoveryActivated, .recoveryInformationChanged:
            break
        }
    }

    @Test func `an event type without a row amounts to nothing`() throws {
        for sample in try samples() where SignalTable.rules(for: sample.name).isEmpty {
            #expect(SharedSignals.signals(for: recorded(sample), knowing: everyFact).isEmpty)
        }
    }
}

@Suite struct `Records of OCSF` {
    private func rules(_ event: any Event, _ facts: OCSFFacts = OCSFFacts(), version: Int = 1)
        -> [String]
    {
        facts.rules(for: recorded(event, version: version)).map(\.description)
    }

    @Test func `a change of roles is a record for what is new and one for what is gone`() throws {
        let changed = AccountEvent.rolesChanged(GivenRoles(["api": ["b", "c"]]))
        let facts = OCSFFacts(formerRoles: GivenRoles(["api": ["a", "b"]]))
        let both = facts.rules(for: recorded(changed))
        #expect(both.map(\.type) == [300_501, 300_502])
        #expect(both.map { facts.privileges(of: recorded(changed), $0) } == [["api#c"], ["api#a"]])
        let none = OCSFFacts(formerRoles: GivenRoles(["api": ["a"]]))
        let emptied = AccountEvent.rolesChanged(GivenRoles())
        #expect(none.rules(for: recorded(emptied)).map(\.type) == [300_502])
        // Without a change there is still a record.
        #expect(rules(emptied) == ["3005/1, if privileges are new"])
    }

    @Test func `what an event says decides between the records of its type`() throws {
        #expect(
            rules(OwnerEvent.mailedCodesChanged(isNeeded: true))
                == ["3001/10, if needed, factor 8"])
        #expect(
            rules(OwnerEvent.mailedCodesChanged(isNeeded: false))
                == ["3001/11, if not needed, factor 8"])
        let provider = try #require(try samples().first { $0.name == "provider.configured" })
        #expect(rules(provider) == ["3004/1, if first"])
        #expect(rules(provider, version: 2) == ["3004/3, if later"])
        #expect(rules(provider, OCSFFacts(isNew: true), version: 2) == ["3004/1, if first"])
        let opened = try #require(try samples().first { $0.name == "session.opened" })
        #expect(rules(opened) == ["3002/7, if impersonated"])
        #expect(rules(MailEvent.requeued).isEmpty)
    }
}
