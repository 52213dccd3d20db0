import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

/// What is mailed, or stands for what was mailed, and proves that somebody reads the mailbox.
enum MailedProof: String, CaseIterable {
    case signInCode = "sign-in code"
    case registrationCode = "registration code"
    case confirmationLink = "confirmation link"
    case confirmedPage = "confirmed page"
    case magicLink = "magic link"
    case moveCode = "move code"
    case ownerMoveLink = "owner's move link"
    case ownerSignInLink = "owner's sign-in link"
    case resetLink = "passphrase-reset link"
    case secondFactorCode = "second-factor code"
    case certificationCode = "certification code"
    case pinResetCode = "PIN-reset code"
    case ownerInvitation = "owner's invitation"
    case keepLink = "keep-account link"
    case vouchedCode = "vouched code"
    case trustedBrowser = "trusted browser"
}

/// What may end it.
enum ProofEnd: String, CaseIterable {
    case use
    case newer = "newer one"
    case expiry
    case ownMove = "move by code"
    case ownerMove = "move by owner's link"
    case administratorsMove = "move by administrator"
    case phoneAdded = "phone added"
    case mailboxAssigned = "mailbox assigned"
    case loggedOut = "log-out everywhere"
    case disabled
    case deletion = "deletion scheduled"
    case deleted
    case passphraseSet = "passphrase set"
    case passphraseRemoved = "passphrase removed"
    case passphraseReset = "passphrase reset"
    case passphraseRestored = "passphrase restored"
    case passphraseChanged = "passphrase changed"
    case joiningClosed = "joining closed"
    case joiningByInvite = "joining by invite"
}

/// A realm of the flagship profile in which everything is switched on that mails proofs, with its owner.
struct ProofWorld {
    static let unused = UUID(high: 80, low: 1)
    static let elsewhere = UUID(high: 80, low: 2)
    /// Whose apps the owner has a PIN for.
    static let tenant = MethodOwner(
        account: Owned.owner, client: UUID(high: 80, low: 3), stream: UUID(high: 80, low: 4))
    static let camille = Person(email: "c@example.org")
    static let base = "https://id.acme.example/"

    private(set) var scenario: Scenario
    var now = Owned.now
    /// The passphrase that is kept now.
    private(set) var hash: String? = "scrypt"
    private var names: UInt64 = 0

    init(isOnboarded: Bool, needsMailedCode: Bool) async throws {
        let settings: JSONObject = [
            "profile": "flagship", "native_grants": true, "owner_links": true,
            "login_passphrase": true, "registration": "jit_on_otp",
            "account_deletion_grace": 86_400,
        ]
        scenario = Owned.account(try await givenInstallation(Owned.certified))
            .given(RealmEvent.settingsChanged(settings), in: Realm.stream)
            .given(MailboxEvent.assigned(Owned.owner), in: Owned.mailbox)
            .given(
                try registered(
                    nativeMetadata.merging([
                        "grant_types": ["urn:cocoar:otp", "urn:cocoar:magic", "refresh_token"]
                    ]) { $1 }, secret: nil), in: client
            )
            .given(
                try registered(tenantMetadata, secret: try digest(9)), in: Self.tenant.client)
        guard isOnboarded else { return }
        for event in Owned.onboarded { scenario = scenario.given(event, in: Owner.stream) }
        if needsMailedCode {
            scenario = scenario.given(
                OwnerEvent.mailedCodesChanged(isNeeded: true), in: Owner.stream)
        }
        scenario = scenario.given(
            PassphraseEvent.derived(
                Owned.derived, account: Owned.owner, mail: Owned.mail, at: madeAt),
            in: Passphrase.stream(of: Owned.owner))
    }

    mutating func name() -> UUID {
        names += 1
        return UUID(high: 81, low: names)
    }

    /// Carries a command out: what happened by it, by name. Nothing where it was refused.
    @discardableResult
    mutating func run<C: Command>(_ command: C) async throws -> [String] {
        guard case .success(let decision) = try await scenario.when(command).result else {
            return []
        }
        scenario = scenario.given(decision)
        return decision.events.map(\.name)
    }

    /// The same where it must come to something.
    mutating func require<C: Command>(_ command: C) async throws {
        let happened = try await run(command)
        #expect(!happened.isEmpty, "\(C.self)")
    }

    var grantRequest: GrantRequest {
        mutating get {
            GrantRequest(
                client: client, clientID: "web", proof: .none, session: name(), now: now)
        }
    }

    var ownerRequest: OwnerRequest {
        mutating get throws {
            var request = try Owned.request()
            (request.session, request.code, request.now) = (name(), name(), now)
            return request
        }
    }

    var signedIn: SignedIn { SignedIn(client: nil, app: nil, at: now) }

    var comparison: PassphraseProof.Comparison { hash.map { .right(hash: $0) } ?? .nothing }
}

extension ProofWorld {
    /// Has it happen to the owner's account, and brings the account back to where it may sign in. False
    /// where it cannot happen.
    mutating func end(_ end: ProofEnd) async throws -> Bool {
        let owner = Owned.owner
        switch end {
        case .use, .newer, .expiry: return false
        case .ownMove: return try await moveByCode()
        case .ownerMove: return try await moveByOwnersLink()
        case .administratorsMove:
            return try await happens(
                ChangePerson(
                    account: owner, person: Person(email: "d@example.org"),
                    addresses: Addresses(mailbox: Self.elsewhere), isConfirmed: true,
                    next: NextSubjects(mailbox: name(), phone: name())))
        case .phoneAdded:
            var person = Self.camille
            person.phone = "+41781234567"
            return try await happens(
                ChangePerson(
                    account: owner, person: person,
                    addresses: Addresses(mailbox: Owned.mailbox, phone: Self.elsewhere),
                    isConfirmed: true, next: NextSubjects(mailbox: name(), phone: name())))
        case .mailboxAssigned:
            return try await happens(
                RegisterAccount(
                    account: name(), addresses: Addresses(mailbox: Self.unused),
                    person: Person(email: "new@example.org"),
                    isConfirmed: true))
        case .loggedOut: return try await happens(RotateSecurityStamp(account: owner))
        case .disabled:
            let isDone = try await happens(AccountChange.disable(owner))
            try await run(AccountChange.enable(owner))
            return isDone
        case .deletion:
            let isDone = try await happens(AccountChange.scheduleDeletion(owner, now: now))
            try await run(AccountChange.cancelDeletion(owner))
            return isDone
        case .deleted:
            try await run(AccountChange.scheduleDeletion(owner, isAtOnce: true, now: now))
            return try await happens(
                DeleteAccount(
                    account: owner, next: NextSubjects(mailbox: name(), phone: name()), now: now))
        case .passphraseSet, .passphraseRemoved, .passphraseReset, .passphraseRestored,
            .passphraseChanged:
            return try await changePassphrase(end)
        case .joiningClosed:
            return try await happens(RealmChange.setSettings(["registration": "off"]))
        case .joiningByInvite:
            return try await happens(RealmChange.setSettings(["registration": "invite_code"]))
        }
    }

    private mutating func happens<C: Command>(_ command: C) async throws -> Bool {
        try await !run(command).isEmpty
    }

    private mutating func moveByCode() async throws -> Bool {
        let (person, code) = (Person(email: "d@example.org"), name())
        try await run(
            RequestMailboxMove(
                account: Owned.owner, mailbox: Self.elsewhere, person: person, code: code,
                digest: try digest(40), now: now))
        return try await run(
            MoveMailbox(
                account: Owned.owner, addresses: Addresses(mailbox: Self.elsewhere),
                digest: try digest(40),
                person: person, next: NextSubjects(mailbox: name(), phone: name()), now: now)
        ).contains("account.mailbox_changed")
    }

    private mutating func moveByOwnersLink() async throws -> Bool {
        let (person, code) = (Person(email: "d@example.org"), name())
        try await run(
            RequestOwnerMove(
                .passphrase(comparison), to: Self.elsewhere, person: person,
                code: code, digest: try digest(41), base: Self.base, now: now))
        return try await run(
            ConfirmOwnerMove(
                to: Self.elsewhere, code: code, digest: try digest(41), person: person,
                nextSubject: name(), mail: name(), now: now)
        ).contains("account.mailbox_moved")
    }

    private mutating func changePassphrase(_ end: ProofEnd) async throws -> Bool {
        let owner = Owned.owner
        switch end {
        case .passphraseSet:
            hash = "other"
            return try await happens(
                SetPassphrase(
                    account: owner, hash: "other", session: signedIn, mail: name(), now: now))
        case .passphraseRemoved:
            hash = nil
            return try await happens(
                RemovePassphrase(account: owner, session: signedIn, mail: name(), now: now))
        case .passphraseReset:
            let link = name()
            try await run(
                RequestPassphraseReset(
                    mailbox: Owned.mailbox, link: link, base: Self.base,
                    now: now.adding(seconds: 600)))
            let isOwned = try await happens(
                ResetPassphrase(
                    account: owner, link: link, passphrase: .derived(Owned.derived),
                    mail: name(), now: now.adding(seconds: 600)))
            if isOwned { return true }
            return try await happens(
                ResetPassphrase(
                    account: owner, link: link, passphrase: .typed(hash: "scrypt"), mail: name(),
                    now: now.adding(seconds: 600)))
        case .passphraseRestored:
            // As it is found where there was none any more: by hand, so that removing it ends nothing here.
            scenario = scenario.given(
                PassphraseEvent.removed(account: owner, mail: name()),
                in: Passphrase.stream(of: owner))
            return try await happens(
                RestorePassphrase(Owned.derived, mail: name(), now: now))
        case .passphraseChanged:
            var request = try ownerRequest
            request.target = .newPassphrase(Owned.derived, mail: name())
            let code = name()
            var command = SignInOwner(
                comparison: .right(hash: "scrypt"), next: (code, try digest(42)), request: request)
            let happened = try await run(command)
            guard happened.contains("mailed_code.issued") else {
                return happened.contains("passphrase.derived")
            }
            command.typed = TypedMailedCode(id: code, digest: try digest(42))
            return try await run(command).contains("passphrase.derived")
        default: return false
        }
    }
}
