import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

let invite = UUID(high: 30, low: 30)
private let other = UUID(high: 31, low: 31)
private let day: Int64 = 86_400

private func created(
    app: UUID? = nil, mailbox: UUID? = nil, days: Int64 = 14
) -> InviteEvent {
    .created(
        InviteTerms(app: app, mailbox: mailbox, expiresAt: noon.adding(seconds: days * day)))
}

@Suite struct `Creating invites` {
    func create(
        _ invites: [UUID] = [invite], app: UUID? = nil, days: Int64? = nil
    ) -> CreateInvites {
        CreateInvites(invites: invites, app: app, mailbox: mailbox, days: days, now: noon)
    }

    @Test func `creating invites makes the requested number for the requested time`() async throws {
        var expected = Decision(created(mailbox: mailbox, days: 3), in: invite)
        expected.append(created(mailbox: mailbox, days: 3), in: other)
        try await givenRealm().when(create([invite, other], days: 3)).then(expected)
        try await givenRealm().when(create()).then(created(mailbox: mailbox), in: invite)
        try await givenRealm()
            .given(RealmEvent.settingsChanged(["invite_lifetime": 86_400]), in: Realm.stream)
            .when(create()).then(created(mailbox: mailbox, days: 1), in: invite)
    }

    @Test func `creating invites for an app needs the app and takes its lifetime`() async throws {
        let settings = AppEvent.Change(settings: ["invite_lifetime": 86_400])
        let realm = givenRealm().given(
            AppEvent.created(slug: "shop", name: "Shop"), AppEvent.updated(settings), in: app)
        try await realm.when(create(app: app))
            .then(created(app: app, mailbox: mailbox, days: 1), in: invite)
        try await givenRealm().when(create(app: app)).thenRejected(.appNotFound)
        try await realm.given(AppEvent.deleted, in: app).when(create(app: app))
            .thenRejected(.appNotFound)
    }

    @Test func `creating invites is refused without a realm or with invalid numbers`() async throws
    {
        try await given().when(create()).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(create()).thenRejected(.realmDisabled)
        let count = FieldFault("count", .outOfRange(lowest: 1, highest: 100))
        try await givenRealm().when(create([])).thenRejected(.invalid(count))
        let many = (0..<101).map { UUID(high: 40, low: $0) }
        try await givenRealm().when(create(many)).thenRejected(.invalid(count))
        let days = FieldFault("expires_in_days", .outOfRange(lowest: 1, highest: 365))
        for wrong in [0, -1, 366, .max] as [Int64] {
            try await givenRealm().when(create(days: wrong)).thenRejected(.invalid(days))
        }
        try await givenRealm().given(created(), in: invite).when(create()).thenRejected(.idTaken)
        try await givenRealm().when(create([invite, invite])).thenRejected(.idTaken)
    }
}

@Suite struct `Revoking an invite` {
    func revoke(as app: UUID? = nil) -> InviteChange.Change<InviteChange.RevokeRejection> {
        InviteChange.revoke(invite, app: app)
    }

    @Test func `revoking an invite is possible until it is used`() async throws {
        let realm = givenRealm().given(created(app: app), in: invite)
        try await realm.when(revoke()).then(InviteEvent.revoked, in: invite)
        try await realm.when(revoke(as: app)).then(InviteEvent.revoked, in: invite)
        try await realm.given(InviteEvent.used(mailbox: mailbox, at: noon), in: invite)
            .when(revoke()).thenRejected(.used)
        try await realm.given(InviteEvent.revoked, in: invite).when(revoke())
            .thenRejected(.notFound)
    }

    @Test func `revoking an invite needs the app's own invite and an enabled realm`() async throws {
        try await givenRealm().when(revoke()).thenRejected(.notFound)
        try await givenRealm().given(created(app: app), in: invite).when(revoke(as: other))
            .thenRejected(.notFound)
        try await givenRealm().given(created(), in: invite).when(revoke(as: app))
            .thenRejected(.notFound)
        try await given().when(revoke()).thenRejected(.realmNotFound)
        try await givenDisabledRealm().given(created(), in: invite).when(revoke())
            .thenRejected(.realmDisabled)
    }
}

@Suite struct `Joining by an invite` {
    func request(
        _ route: RequestOTP.Route = .signIn, invite: UUID? = invite, app: UUID? = nil,
        at: Timestamp = noon
    ) throws -> RequestOTP {
        RequestOTP(
            route: route, app: app, mailbox: mailbox, person: ann, code: code,
            digest: try digest(1), invite: invite, now: at)
    }

    func realm(_ posture: String = "invite_code") throws -> Scenario {
        try givenNativeRealm(["registration": .string(posture)])
    }

    func accepted(app: UUID? = nil) throws -> Decision {
        var decision = Decision(InviteEvent.used(mailbox: mailbox, at: noon), in: invite)
        decision.append(MailboxEvent.invited(Invitation(invite: invite, app: app)), in: mailbox)
        decision.append(try issued(), in: mailbox)
        return decision
    }

    @Test func `joining by an invite uses it up before a code is mailed`() async throws {
        for terms in [created(), created(mailbox: mailbox)] {
            try await realm().given(terms, in: invite).when(request()).then(accepted())
        }
    }

    @Test func `joining by an invite needs a valid one for this mailbox and realm`() async throws {
        let open = try realm()
        try await open.when(request(invite: nil)).thenNothing()
        try await open.when(request()).thenNothing()
        for history in [
            [created(), .revoked], [created(), .used(mailbox: other, at: noon)],
            [created(mailbox: other)], [created(app: app)],
        ] {
            let known = history.reduce(open) { $0.given($1, in: invite) }
            try await known.when(request()).thenNothing()
        }
        let late = noon.adding(seconds: 14 * day)
        try await open.given(created(), in: invite).when(request(at: late)).thenNothing()
        try await open.given(created(), in: invite).when(request(.registration)).thenNothing()
    }

    @Test func `joining by an invite is demanded exactly where the posture says so`()
        async throws
    {
        for (posture, route, isMailed) in [
            ("off", RequestOTP.Route.signIn, false), ("off", .registration, false),
            ("jit_on_otp", .signIn, true), ("jit_on_otp", .registration, false),
            ("explicit_endpoint", .signIn, false), ("explicit_endpoint", .registration, true),
            ("invite_code", .registration, false),
        ] {
            let verdict = try await realm(posture).given(created(), in: invite)
                .when(request(route))
            if isMailed { verdict.then(try issued(), in: mailbox) } else { verdict.thenNothing() }
        }
    }

    @Test func `joining by an invite needs one for the same app`() async throws {
        let settings = AppEvent.Change(
            settings: ["registration": "invite_code"])
        let shop = try givenNativeRealm(["registration": "off"]).given(
            AppEvent.created(slug: "shop", name: "Shop"), AppEvent.updated(settings), in: app)
        let verdict = try await shop.given(created(app: app), in: invite).when(request(app: app))
        guard case .success(let decision) = verdict.result else {
            Issue.record("Rejected.")
            return
        }
        #expect(decision.events.map(\.name) == ["invite.used", "mailbox.invited", "otp.issued"])
        try await shop.given(created(app: other), in: invite).when(request(app: app))
            .thenNothing()
    }

    @Test func `joining by an invite uses one, however often the code is mailed again`()
        async throws
    {
        let used = InviteEvent.used(mailbox: mailbox, at: noon)
        let invited = MailboxEvent.invited(Invitation(invite: invite, app: nil))
        let pending = try realm().given(created(), used, in: invite)
            .given(invited, try issued(), in: mailbox)
        let later = noon.adding(seconds: 120)
        for again in [nil, invite, other] {
            try await pending.when(request(invite: again, at: later))
                .then(issued(at: later, repeating: code), in: mailbox)
        }
        try await pending.when(request()).thenNothing()
        // The account that came of it is gone, and with it what the invite was good for.
        let gone = pending.given(MailboxEvent.assigned(account), in: mailbox)
            .given(registeredAccount(), AccountEvent.deleted(subjects: []), in: account)
            .given(MailboxEvent.released(account), in: mailbox)
        try await gone.when(request(invite: nil, at: later)).thenNothing()
    }

    @Test func `joining by an invite does not concern people with an account`() async throws {
        let member = try realm().given(created(), in: invite)
            .given(MailboxEvent.assigned(account), in: mailbox)
        try await member.given(registeredAccount(), in: account).when(request())
            .then(issued(.signIn), in: mailbox)
        try await member.given(registeredAccount(isConfirmed: false), in: account)
            .when(request(invite: nil)).then(issued(to: reader), in: mailbox)
        try await member.given(registeredAccount(), AccountEvent.disabled(), in: account)
            .when(request()).thenNothing()
    }

    @Test func `joining by an invite does not use it up where no code is mailed`() async throws {
        var realm = try realm().given(created(), in: invite)
        for guess in 0..<10 {
            realm = realm.given(
                MailboxEvent.codeRefused(code, at: noon.adding(seconds: Int64(guess))),
                in: mailbox)
        }
        try await realm.when(request(at: noon.adding(seconds: 60))).thenNothing()
    }
}
