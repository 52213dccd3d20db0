import EventSourcing
import Foundation
import Identity
import LogTesting
import Testing
import Values

private typealias UUID = Values.UUID

/// A proof that was mailed: what it is to be shown by.
private struct Issued {
    var name: UUID
    var byte: UInt8
}

extension MailedProof {
    fileprivate func world() async throws -> ProofWorld {
        let wary: Set<MailedProof> = [.secondFactorCode, .vouchedCode, .trustedBrowser]
        return try await ProofWorld(
            isOnboarded: self != .ownerInvitation, needsMailedCode: wary.contains(self))
    }

    /// Seconds that it is good for; nil: until something ends it.
    fileprivate var lifetime: Int64? {
        switch self {
        case .signInCode, .registrationCode, .moveCode, .confirmationLink, .confirmedPage,
            .pinResetCode:
            600
        case .magicLink, .ownerSignInLink, .resetLink: MailedLink.lifetime
        case .secondFactorCode, .certificationCode: MailedCode.lifetime
        case .ownerMoveLink: RequestOwnerMove.lifetime
        case .keepLink: 86_400
        case .vouchedCode: VouchForMailbox.lifetime
        case .trustedBrowser: OwnerPassphraseProof.trust
        case .ownerInvitation: nil
        }
    }

    /// Has it mailed. Nil where it is not.
    fileprivate func issue(in world: inout ProofWorld, _ byte: UInt8 = 1) async throws -> Issued? {
        let (name, digest, now) = (world.name(), try digest(byte), world.now)
        let happened: [String]
        switch self {
        case .signInCode, .registrationCode, .pinResetCode:
            happened = try await world.run(
                RequestOTP(
                    route: self == .pinResetCode ? .pinReset : .signIn, mailbox: mailbox,
                    person: ProofWorld.camille, code: name, digest: digest, now: now))
        case .confirmationLink, .confirmedPage:
            var request = RequestOTP(
                mailbox: mailbox, person: ProofWorld.camille, code: name, digest: digest, now: now)
            request.base = ProofWorld.base
            happened = try await world.run(request)
            if self == .confirmedPage {
                try await world.require(
                    ConfirmOTP(mailbox: mailbox, shown: ShownSecret([digest]), now: now))
            }
        case .magicLink:
            happened = try await world.run(
                RequestMagicLink(
                    mailbox: mailbox, person: ProofWorld.camille, link: name, digest: digest,
                    base: ProofWorld.base, mail: world.name(), now: now))
        case .moveCode:
            happened = try await world.run(
                RequestMailboxMove(
                    account: Owned.owner, mailbox: mailbox, person: ProofWorld.camille, code: name,
                    digest: digest, now: now))
        case .ownerMoveLink:
            happened = try await world.run(
                RequestOwnerMove(
                    .passphrase(world.comparison), to: mailbox, person: ProofWorld.camille,
                    code: name, digest: digest, base: ProofWorld.base, now: now))
        case .ownerSignInLink:
            happened = try await world.run(
                RequestOwnerLink(.signIn, link: name, base: ProofWorld.base, now: now))
        case .resetLink:
            happened = try await world.run(
                RequestPassphraseReset(
                    mailbox: mailbox, link: name, base: ProofWorld.base, now: now))
        case .secondFactorCode:
            happened = try await world.run(
                SignInOwner(
                    comparison: world.comparison, next: (name, digest),
                    request: try world.ownerRequest))
        case .certificationCode:
            happened = try await world.run(
                RequestCertification(
                    installation: installation, code: name, digest: digest, now: now))
        case .ownerInvitation:
            try await world.require(AppointOwner(account: Owned.owner, token: name))
            happened = try await world.run(
                InviteOwner(base: ProofWorld.base, mail: world.name(), token: world.name()))
        case .keepLink:
            happened = try await world.run(
                AccountChange.scheduleDeletion(
                    Owned.owner, mail: name, keepBase: ProofWorld.base, now: now))
        case .vouchedCode:
            happened = try await world.run(VouchForMailbox(code: name, now: now))
        case .trustedBrowser:
            happened = try await trust(name, in: &world)
        }
        return happened.isEmpty ? nil : Issued(name: name, byte: byte)
    }

    /// The mailbox that it goes to.
    private var mailbox: UUID {
        switch self {
        case .registrationCode, .moveCode, .ownerMoveLink: ProofWorld.unused
        default: Owned.mailbox
        }
    }

    /// Types a mailed code in a browser that is to be trusted.
    private func trust(_ name: UUID, in world: inout ProofWorld) async throws -> [String] {
        let code = (id: world.name(), digest: try digest(43))
        var proof = OwnerPassphraseProof(comparison: world.comparison, next: code)
        try await world.require(browser(proof, in: &world))
        proof.typed = TypedMailedCode(id: code.id, digest: code.digest)
        proof.trusting = name
        return try await world.run(browser(proof, in: &world)).filter {
            $0 == "owner.browser_trusted"
        }
    }

    private func browser(
        _ proof: OwnerPassphraseProof, in world: inout ProofWorld
    ) throws -> SignInBrowser<OwnerPassphraseProof> {
        SignInBrowser(
            proof, by: .ownerPassphrase, session: world.name(), digest: try digest(44),
            now: world.now)
    }

    /// Shows it, and says whether that was any good.
    fileprivate func isTaken(_ issued: Issued, in world: inout ProofWorld) async throws -> Bool {
        let (digest, now) = (try digest(issued.byte), world.now)
        switch self {
        case .signInCode, .registrationCode:
            return try await world.run(
                RedeemGrant(
                    OTPGrant(mailbox: mailbox, digest: digest, account: world.name()),
                    world.grantRequest)
            ).contains("session.opened")
        case .confirmationLink:
            let happened = try await world.run(
                ConfirmOTP(mailbox: mailbox, shown: ShownSecret([digest]), now: now))
            guard happened.contains("otp.confirmed") else { return false }
            return try await redeems(issued, in: &world)
        case .confirmedPage, .pinResetCode: return try await redeems(issued, in: &world)
        case .magicLink:
            return try await world.run(
                RedeemGrant(
                    MagicLinkGrant(account: Owned.owner, digest: digest), world.grantRequest)
            ).contains("session.opened")
        case .moveCode:
            return try await world.run(
                MoveMailbox(
                    account: Owned.owner, addresses: Addresses(mailbox: mailbox), digest: digest,
                    person: ProofWorld.camille,
                    next: NextSubjects(mailbox: world.name(), phone: world.name()), now: now)
            ).contains("account.mailbox_changed")
        case .ownerMoveLink:
            return try await world.run(
                ConfirmOwnerMove(
                    to: mailbox, code: issued.name, digest: digest, person: ProofWorld.camille,
                    nextSubject: world.name(), mail: world.name(), now: now)
            ).contains("account.mailbox_moved")
        case .ownerSignInLink:
            return try await world.run(
                SignInOwnerByLink(
                    link: issued.name, comparison: world.comparison,
                    request: try world.ownerRequest)
            ).contains("session.opened")
        case .resetLink:
            return try await world.run(
                ResetPassphrase(
                    account: Owned.owner, link: issued.name, passphrase: .derived(Owned.derived),
                    mail: world.name(), now: now)
            ).contains("passphrase.derived")
        case .secondFactorCode, .vouchedCode:
            return try await isTakenBesidePassphrase(issued, in: &world)
        case .certificationCode:
            return try await world.run(
                CertifyByMailedCode(
                    installation: installation,
                    typed: TypedMailedCode(id: issued.name, digest: digest), now: now)
            ).contains("client.certified")
        case .ownerInvitation:
            return try await world.run(
                OnboardOwner(
                    token: issued.name, passphrase: Owned.derived, mail: world.name(),
                    request: try world.ownerRequest)
            ).contains("owner.onboarded")
        case .keepLink:
            return try await world.run(
                AccountChange.keep(Owned.owner, link: issued.name, now: now)
            ).contains("account.deletion_cancelled")
        case .trustedBrowser:
            var proof = OwnerPassphraseProof(
                comparison: world.comparison, next: (world.name(), digest))
            proof.trusted = issued.name
            return try await world.run(browser(proof, in: &world)).contains("browser.opened")
        }
    }

    private func resetsPIN(_ issued: Issued, in world: inout ProofWorld) async throws -> Bool {
        try await world.run(
            ResetPIN(
                owner: ProofWorld.tenant, mailbox: mailbox,
                shown: ShownSecret([try digest(issued.byte)]), hash: "scrypt", app: nil,
                mail: world.name(), now: world.now)
        ).contains("app_method.pin_set")
    }

    /// As the page does that asked for the link, or an app whose person forgot the PIN.
    private func redeems(_ issued: Issued, in world: inout ProofWorld) async throws -> Bool {
        if self == .pinResetCode { return try await resetsPIN(issued, in: &world) }
        var grant = OTPGrant(mailbox: mailbox, digest: try digest(9), account: world.name())
        grant.confirmed = issued.name
        return try await world.run(RedeemGrant(grant, world.grantRequest))
            .contains("session.opened")
    }

    private func isTakenBesidePassphrase(
        _ issued: Issued, in world: inout ProofWorld
    ) async throws -> Bool {
        var command = SignInOwner(
            comparison: world.comparison, next: (world.name(), try digest(45)),
            request: try world.ownerRequest)
        if self == .vouchedCode {
            command.vouched = issued.name
        } else {
            command.typed = TypedMailedCode(id: issued.name, digest: try digest(issued.byte))
        }
        return try await world.run(command).contains("session.opened")
    }

    /// What comes of it by an event: a cell of the table.
    fileprivate func cell(_ end: ProofEnd) async throws -> String {
        var world = try await world()
        let issued = try #require(try await issue(in: &world), "\(rawValue) is not mailed")
        switch end {
        case .use:
            guard try await isTaken(issued, in: &world) else { return "never good" }
        case .newer:
            world.now = world.now.adding(seconds: 121)
            guard try await issue(in: &world, 2) != nil else { return "–" }
        case .expiry:
            guard let lifetime else { return "–" }
            world.now = world.now.adding(seconds: lifetime - 1)
            var before = world
            guard try await isTaken(issued, in: &before) else { return "too soon" }
            world.now = world.now.adding(seconds: 1)
        default:
            guard try await world.end(end) else { return "–" }
        }
        return try await isTaken(issued, in: &world) ? "stays" : "ends"
    }
}

/// The table of `docs/mailed-proofs.md`, by proof and event.
private let table: [String: [String: String]] = {
    let path = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "docs/mailed-proofs.md")
    let text = (try? String(contentsOf: path, encoding: .utf8)) ?? ""
    let rows = text.split(separator: "\n").filter { $0.hasPrefix("| ") }.map { line in
        line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }
    guard let head = rows.first(where: { $0.first == "proof" }) else { return [:] }
    let known = rows.filter { $0.count == head.count && $0 != head }
    return Dictionary(
        known.map { row in
            (
                row[0],
                Dictionary(zip(head, row).dropFirst(), uniquingKeysWith: { first, _ in first })
            )
        }, uniquingKeysWith: { first, _ in first })
}()

@Suite struct `A mailed proof` {
    @Test(arguments: MailedProof.allCases)
    func `a mailed proof ends with the events in docs/mailed-proofs.md and survives others`(
        _ proof: MailedProof
    ) async throws {
        let row = try #require(table[proof.rawValue])
        for end in ProofEnd.allCases {
            let cell = try await proof.cell(end)
            #expect(cell == row[end.rawValue], "\(proof.rawValue), \(end.rawValue)")
        }
    }

    @Test func `a mailed proof is accepted only if docs/mailed-proofs.md lists it`() {
        #expect(Set(table.keys) == Set(MailedProof.allCases.map(\.rawValue)))
        for (proof, row) in table {
            #expect(Set(row.keys) == Set(ProofEnd.allCases.map(\.rawValue)), "\(proof)")
        }
    }

    /// A new purpose is a new row of the table.
    @Test func `a mailed proof of each purpose has a row in docs/mailed-proofs.md`() {
        let purposes =
            IssuedCode.Purpose.allCases.map(\.rawValue)
            + MailedCode.Purpose.allCases.map(\.rawValue)
            + MailedLink.Purpose.allCases.map { "link to \($0.rawValue)" }
        let rows: [String: MailedProof] = [
            "sign_in": .signInCode, "registration": .registrationCode, "move": .moveCode,
            "pin_reset": .pinResetCode, "second_factor": .secondFactorCode,
            "certification": .certificationCode,
            "link to sign_in": .ownerSignInLink, "link to passphrase_reset": .resetLink,
        ]
        for purpose in purposes { #expect(rows[purpose] != nil, "\(purpose)") }
    }
}
