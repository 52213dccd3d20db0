import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

private let owner = Owned.owner
private let ownerLink = UUID(high: 71, low: 1)
private let reset = MailedLink.stream(of: owner, .passphraseReset)
private let signIn = MailedLink.stream(of: owner, .signIn)
private let base = "https://id.acme.example/auth/magic_link?code="
private let linksOn = RealmEvent.settingsChanged(["owner_links": true])

private func ownersLink(
    _ purpose: MailedLink.Purpose = .signIn, of account: UUID = owner, at: Timestamp = madeAt,
    to path: String? = nil
) -> MailedLinkEvent {
    .issued(
        IssuedMailedLink(
            id: ownerLink, purpose: purpose, account: account, base: base,
            returnPath: path.flatMap { ReturnPath($0) }, issuedAt: at))
}

private func names<C: Command>(_ command: C, _ scenario: Scenario) async throws -> [String] {
    try await scenario.when(command).result.get().events.map(\.name)
}

@Suite struct `Asking for an owner's link` {
    private func ask(_ purpose: MailedLink.Purpose = .signIn) -> RequestOwnerLink {
        RequestOwnerLink(
            purpose, link: ownerLink, base: base, returnPath: ReturnPath("/account"), now: madeAt)
    }

    @Test func `requesting an owner's link mails it where such sign-ins are allowed`() async throws
    {
        let there = try await givenOwner().given(linksOn, in: Realm.stream)
        try await there.when(ask()).then(ownersLink(to: "/account"), in: signIn)
        try await givenOwner().when(ask(.passphraseReset)).then(
            ownersLink(.passphraseReset, to: "/account"), in: reset)
    }

    @Test func `requesting an owner's link is refused where the realm has no owner`() async throws {
        try await givenOwner().when(ask()).thenRejected(.notOffered)
        try await givenRealm().given(linksOn, in: Realm.stream).when(ask())
            .thenRejected(.notOffered)
        let on = try await givenInstallation().given(linksOn, in: Realm.stream)
        try await on.when(ask()).thenRejected(.noOwner)
        try await Owned.account(on).given(
            OwnerEvent.appointed(owner, token: Owned.token), in: Owner.stream
        ).when(ask()).thenRejected(.noOwner)
        try await givenOwner().given(linksOn, in: Realm.stream)
            .given(AccountEvent.disabled(), in: owner).when(ask()).thenRejected(.noOwner)
        try await given().when(ask()).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(ask()).thenRejected(.realmDisabled)
    }
}

@Suite struct `Signing an owner in by a link` {
    private func signInOwner(
        _ link: UUID = ownerLink, _ comparison: PassphraseProof.Comparison? = nil,
        secret: UInt8 = 1, at now: Timestamp = Owned.now
    ) throws -> SignInOwnerByLink {
        var request = try Owned.request(secret)
        request.now = now
        return SignInOwnerByLink(link: link, comparison: comparison, request: request)
    }

    private func there(_ events: [OwnerEvent] = [], _ client: ClientEvent...) async throws
        -> Scenario
    {
        var scenario = try await givenOwner(Owned.onboarded + events)
        for event in client { scenario = scenario.given(event, in: installation) }
        return scenario.given(linksOn, in: Realm.stream).given(ownersLink(), in: signIn)
    }

    @Test func `COZ-16: an owner's link is used up by a completed sign-in`() async throws {
        #expect(
            try await names(signInOwner(), there()) == [
                "mailed_link.used", "client.adopted", "owner.device_added", "session_code.issued",
            ])
        #expect(
            try await names(signInOwner(), there([], Owned.certified)) == [
                "mailed_link.used", "client.adopted", "owner.device_added", "session.opened",
            ])
        // Neither a client that is none nor what is missing uses it up.
        #expect(try await names(signInOwner(secret: 2), there()) == ["session.refused"])
        #expect(try await names(signInOwner(), there([], .deleted)) == ["session.refused"])
        #expect(
            try await names(signInOwner(), there([.mailedCodesChanged(isNeeded: true)])) == [])
    }

    @Test func `COZ-16: an owner's link asks for the passphrase where a second factor is on`()
        async throws
    {
        let wary = try await there([.mailedCodesChanged(isNeeded: true)])
        #expect(
            try await names(signInOwner(ownerLink, .right(hash: "scrypt")), wary) == [
                "mailed_link.used", "client.adopted", "owner.device_added", "session_code.issued",
            ])
        #expect(
            try await names(signInOwner(ownerLink, .wrong(hash: "scrypt")), wary) == [
                "passphrase.refused", "session.refused",
            ])
        for wrong in [PassphraseProof.Comparison.right(hash: "old"), .nothing] {
            #expect(
                try await names(signInOwner(ownerLink, wrong), wary) == ["session.refused"])
        }
    }

    @Test func `COZ-16: an owner's expired link is refused`() async throws {
        let refused = ["session.refused"]
        #expect(try await names(signInOwner(.zero), there()) == refused)
        #expect(
            try await names(
                signInOwner(at: madeAt.adding(seconds: MailedLink.lifetime)), there()) == refused)
        let used = try await there().given(MailedLinkEvent.used(ownerLink), in: signIn)
        #expect(try await names(signInOwner(), used) == refused)
        let newer = MailedLinkEvent.issued(
            IssuedMailedLink(
                id: mail, purpose: .signIn, account: owner, base: base, issuedAt: madeAt))
        // Whoever asked for another one ended none.
        #expect(
            try await names(signInOwner(), there().given(newer, in: signIn)) != refused)
        #expect(
            try await names(
                signInOwner(), there().given(AccountEvent.disabled(), in: owner)) == refused)
        // One that sets a passphrase signs nobody in.
        let other = try await givenOwner().given(linksOn, in: Realm.stream)
            .given(ownersLink(.passphraseReset), in: reset)
        #expect(try await names(signInOwner(), other) == refused)
        try await there().given(
            RealmEvent.settingsChanged(["owner_links": .null]), in: Realm.stream
        )
        .when(signInOwner()).thenRejected(.notOffered)
        try await given().when(signInOwner()).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(signInOwner()).thenRejected(.realmDisabled)
    }
}

@Suite struct `Asking for another passphrase` {
    private func ask(at now: Timestamp = noon) -> RequestPassphraseReset {
        RequestPassphraseReset(mailbox: mailbox, link: ownerLink, base: base, now: now)
    }

    private func there(isConfirmed: Bool = true) throws -> Scenario {
        try givenNativeRealm(["login_passphrase": true])
            .given(registeredAccount(isConfirmed: isConfirmed), in: account)
            .given(MailboxEvent.assigned(account), in: mailbox)
    }

    private let stream = MailedLink.stream(of: account, .passphraseReset)

    @Test func `requesting a reset link mails it to an account with a confirmed mailbox`()
        async throws
    {
        let event = ownersLink(.passphraseReset, of: account, at: noon)
        try await there().when(ask()).then(event, in: stream)
        let asked = try there().given(event, in: stream)
        try await asked.when(ask(at: noon.adding(seconds: 119))).thenNothing()
        #expect(
            try await names(ask(at: noon.adding(seconds: 120)), asked) == ["mailed_link.issued"])
    }

    @Test func `requesting a reset link mails nothing to others`() async throws {
        try await givenNativeRealm(["login_passphrase": true]).when(ask()).thenNothing()
        try await there(isConfirmed: false).when(ask()).thenNothing()
        try await there().given(AccountEvent.disabled(), in: account).when(ask()).thenNothing()
        try await givenNativeRealm().when(ask()).thenRejected(.notOffered)
        try await given().when(ask()).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(ask()).thenRejected(.realmDisabled)
    }
}

@Suite struct `Resetting a passphrase` {
    private func resetting(
        _ passphrase: ResetPassphrase.Chosen = .typed(hash: "new"), of holder: UUID = account,
        at now: Timestamp = noon
    ) -> ResetPassphrase {
        ResetPassphrase(
            account: holder, link: ownerLink, passphrase: passphrase, mail: mail, now: now)
    }

    private let stream = MailedLink.stream(of: account, .passphraseReset)

    private func there() throws -> Scenario {
        try givenNativeRealm(["login_passphrase": true])
            .given(registeredAccount(isConfirmed: true), in: account)
            .given(ownersLink(.passphraseReset, of: account, at: noon), in: stream)
    }

    @Test func `COZ-24: resetting a passphrase works once and ends every session`() async throws {
        let changed = ["mailed_link.used", "passphrase.set", "account.stamp_rotated"]
        #expect(try await names(resetting(), there()) == changed)
        let used = try there().given(MailedLinkEvent.used(ownerLink), in: stream)
        try await used.when(resetting()).thenRejected(.linkOver)
        try await there().when(resetting(at: noon.adding(seconds: MailedLink.lifetime)))
            .thenRejected(.linkOver)
        try await there().given(AccountEvent.disabled(), in: account).when(resetting())
            .thenRejected(.linkOver)
        try await givenNativeRealm().when(resetting()).thenRejected(.linkOver)
        try await given().when(resetting()).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(resetting()).thenRejected(.realmDisabled)
    }

    @Test func `COZ-24: resetting a passphrase sets one of the kind that the owner's apps derive`()
        async throws
    {
        let owned = try await givenOwner().given(
            ownersLink(.passphraseReset, at: noon), in: reset)
        #expect(
            try await names(resetting(.derived(Owned.derived), of: owner), owned) == [
                "mailed_link.used", "passphrase.derived", "account.stamp_rotated",
            ])
        try await owned.when(resetting(of: owner)).thenRejected(.notOffered)
        try await there().when(resetting(.derived(Owned.derived))).thenRejected(.notOffered)
    }
}

@Suite struct `An owner's hint` {
    private let passphrase = Passphrase.stream(of: owner)

    @Test func `an owner's hint is changed with the passphrase and mailed`() async throws {
        let changed = PassphraseEvent.hintChanged("otters", account: owner)
        try await givenOwner().when(ChangeHint("otters")).then(changed, in: passphrase)
        let there = try await givenOwner().given(changed, in: passphrase)
        try await there.when(ChangeHint("otters")).thenNothing()
        try await there.when(RequestHint(mail: mail)).then(
            PassphraseEvent.hintRequested("otters", account: owner, mail: mail), in: passphrase)
        try await there.when(ChangeHint(nil)).then(
            PassphraseEvent.hintChanged(nil, account: owner), in: passphrase)
        for wrong in ["", "a\0", String(repeating: "a", count: 501)] {
            try await there.when(ChangeHint(wrong)).thenRejected(
                .invalid(FieldFault("hint", .malformed)))
        }
        try await givenInstallation().when(ChangeHint("a")).thenRejected(.noPassphrase)
        try await given().when(ChangeHint("a")).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(ChangeHint("a")).thenRejected(.realmDisabled)
    }

    @Test func `an owner's missing hint is not mailed`() async throws {
        let ask = RequestHint(mail: mail)
        try await givenOwner().when(ask).thenRejected(.noHint)
        try await givenInstallation().when(ask).thenRejected(.noHint)
        try await given().when(ask).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(ask).thenRejected(.realmDisabled)
        let there = try await givenOwner().given(
            PassphraseEvent.hintChanged("otters", account: owner), in: passphrase)
        try await there.given(AccountEvent.disabled(), in: owner).when(ask).thenRejected(.noHint)
    }
}

@Suite struct `An owner without a passphrase` {
    @Test func `an owner without a passphrase gets one from their app alone`() async throws {
        let restore = RestorePassphrase(Owned.derived, mail: mail, now: noon)
        let stream = Passphrase.stream(of: owner)
        try await givenOwner().when(restore).thenRejected(.set)
        let removed = try await givenOwner().given(
            PassphraseEvent.removed(account: owner, mail: mail), in: stream)
        var restored = Decision(
            PassphraseEvent.derived(Owned.derived, account: owner, mail: mail, at: noon),
            in: stream)
        restored.append(AccountEvent.proofsEnded, in: owner)
        try await removed.when(restore).then(restored)
        try await removed.given(AccountEvent.disabled(), in: owner).when(restore)
            .thenRejected(.noOwner)
        try await givenInstallation().when(restore).thenRejected(.noOwner)
        try await given().when(restore).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(restore).thenRejected(.realmDisabled)
    }

    @Test func `an owner who has not taken the realm over is mailed how to`() async throws {
        let invite = InviteOwner(base: "https://a.example", mail: mail, token: ownerLink)
        let appointed = OwnerEvent.appointed(owner, token: Owned.token)
        let there = Owned.account(givenRealm()).given(appointed, in: Owner.stream)
        try await there.when(invite).then(
            OwnerEvent.invited(
                owner, token: Owned.token, base: "https://a.example", mail: mail),
            in: Owner.stream)
        // What went to another mailbox is worth nothing: it is another token then.
        var anew = Decision(
            OwnerEvent.appointed(owner, token: ownerLink, generation: 1), in: Owner.stream)
        anew.append(
            OwnerEvent.invited(
                owner, token: ownerLink, base: "https://a.example", mail: mail, generation: 1),
            in: Owner.stream)
        try await there.given(AccountEvent.stampRotated(), in: owner).when(invite).then(anew)
        try await givenOwner().when(invite).thenRejected(.nobodyWaits)
        try await givenRealm().when(invite).thenRejected(.nobodyWaits)
        try await there.given(AccountEvent.disabled(), in: owner).when(invite)
            .thenRejected(.nobodyWaits)
        try await given().when(invite).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(invite).thenRejected(.realmDisabled)
    }
}
