import EventSourcing
import Foundation
import Identity
import JSON
import LogTesting
import Testing
import Values

private typealias UUID = Values.UUID

/// What signs a person in within a tenant's apps beside a code, under its name in `docs/verify.md`.
private enum TenantProof: String, CaseIterable {
    case pin = "PIN"
    case key = "device key"
    /// What a device's key made once.
    case signature
    case passkey
    case waiting = "waiting request"
    case approved = "approved request"
}

/// What happens to the account or the tenant.
private enum TenantProofEnd: String, CaseIterable {
    case use
    case expiry
    case removed
    case reset = "PIN reset"
    case newer = "newer request"
    case signOut = "log-out everywhere"
    case move = "address moved"
    case disabled
    case enabled = "enabled again"
    case scheduled = "deletion scheduled"
    case deleted
    case tenantDisabled = "tenant disabled"
    case tenantDeleted = "tenant deleted"
}

extension TenantProofEnd {
    /// Nil where it cannot happen to the proof.
    func happens(to proof: TenantProof, in world: Scenario) throws -> Scenario? {
        let isRequest = proof == .waiting || proof == .approved
        switch self {
        case .use, .expiry: return world
        case .removed:
            return proof == .passkey
                ? world.given(PasskeyEvent.removed(account: account, mail: nil), in: passkey)
                : world.given(
                    TenantMethodEvent.keyRemoved(
                        deviceKey().id, account: account, client: client),
                    TenantMethodEvent.pinRemoved(account: account, client: client),
                    in: methodsStream)
        case .reset: return world.given(pinned("scrypt$2"), in: methodsStream)
        case .newer:
            guard isRequest else { return nil }
            return world.given(
                TenantMethodEvent.approvalAwaited(
                    AwaitedApproval(approval: app, number: 1, expiresAt: noon), account: account,
                    client: client), in: methodsStream)
        case .signOut: return world.given(AccountEvent.stampRotated(mail: code), in: account)
        case .move:
            return world.given(
                AccountEvent.mailboxMoved(mailbox: app, left: mailbox), in: account)
        case .disabled: return world.given(AccountEvent.disabled(), in: account)
        case .enabled:
            return world.given(AccountEvent.disabled(), AccountEvent.enabled, in: account)
        case .scheduled:
            return world.given(
                AccountEvent.deletionScheduled(due: noon.adding(seconds: 9), mail: nil),
                in: account)
        case .deleted: return world.given(AccountEvent.deleted(subjects: []), in: account)
        case .tenantDisabled: return world.given(ClientEvent.disabled, in: client)
        case .tenantDeleted: return world.given(ClientEvent.deleted, in: client)
        }
    }
}

private func pinned(_ hash: String) -> TenantMethodEvent { pin(hash) }
/// The passkey's stream, which the cases of a proof do not hide.
private let credentialStream = passkey

extension UUID {
    fileprivate static func random(at time: Timestamp) -> UUID {
        var random = SystemRandomNumberGenerator()
        return .v7(at: time, using: &random)
    }
}

extension TenantProof {
    private func terms(_ method: TenantMethod = .trustedDevice) -> ApprovalTerms {
        approvalTerms("LOGIN", method)
    }

    func world() throws -> Scenario {
        let world = try givenTenant(["webauthn_rp_id": "acme.example"])
            .given(enrolled(deviceKey()), pinned("scrypt$1"), in: methodsStream)
            .given(enrolled(), in: credentialStream)
        switch self {
        case .pin, .key, .signature, .passkey: return world
        case .waiting, .approved:
            let waiting = world.given(ApprovalEvent.requested(terms()), in: approvalStream)
                .given(awaited, in: methodsStream)
            return self == .waiting
                ? waiting
                : waiting.given(
                    ApprovalEvent.answered(
                        isApproved: true, key: deviceKey().id, account: account, client: client,
                        at: noon), in: approvalStream)
        }
    }

    /// What comes of showing it: nil where nothing good does.
    func show(in world: Scenario, at now: Timestamp) async throws -> Decision? {
        let fresh = UUID.random(at: now)
        switch self {
        case .pin:
            let proof = DeviceProof(
                approval: fresh, owner: methodOwner,
                terms: approvalTerms("LOGIN", .pin, signedAt: now),
                shown: .pin(.right(hash: "scrypt$1")), mail: mail)
            return try await redeem(proof, in: world, at: now)
        case .key, .signature:
            let isNew = self == .key
            let proof = DeviceProof(
                approval: isNew ? fresh : app, owner: methodOwner,
                terms: approvalTerms("LOGIN", signedAt: isNew ? now : noon),
                shown: .signature(key: deviceKey().id), mail: mail)
            return try await redeem(proof, in: world, at: now)
        case .passkey:
            let proof = PasskeyGrant(
                ceremony: fresh,
                proof: .verified(
                    PasskeyUse(
                        passkey: credentialStream, relyingParty: "acme.example", counter: 0,
                        isBackupEligible: true, isBackedUp: false)))
            return try await redeem(proof, in: world, at: now)
        case .waiting:
            let answer = AnswerApproval(
                approval: approvalStream, owner: methodOwner, key: deviceKey().id,
                signature: signatureStream, isApproved: true, now: now)
            return try? await world.when(answer).result.get()
        case .approved:
            return try await redeem(
                ApprovalProof(approval: approvalStream, owner: methodOwner), in: world, at: now)
        }
    }

    private func redeem<Proof: SignInProof>(
        _ proof: Proof, in world: Scenario, at now: Timestamp
    ) async throws -> Decision? {
        let request = GrantRequest(
            client: client, clientID: "web", proof: .none, session: session, now: now)
        let verdict = try await world.when(RedeemGrant(TenantSignIn(proof), request))
        guard let decision = try? verdict.result.get(),
            decision.events.contains(where: { $0.name == "session.opened" })
        else { return nil }
        return decision
    }

    func cell(_ end: TenantProofEnd) async throws -> String {
        let world = try world()
        let good = try #require(try await show(in: world, at: noon))
        guard var after = try end.happens(to: self, in: world) else { return "–" }
        var now = noon
        switch end {
        case .use: after = after.given(good)
        case .expiry: now = noon.adding(seconds: 301)
        default: break
        }
        return try await show(in: after, at: now) == nil ? "ends" : "stays"
    }
}

/// The table of `docs/verify.md`, by proof and event.
private let table: [String: [String: String]] = {
    let path = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "docs/verify.md")
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

@Suite struct `What ends a way to sign in within a tenant's apps` {
    @Test(arguments: TenantProof.allCases.indices)
    func `a tenant's proof ends with the events in docs/verify.md and survives others`(
        _ index: Int
    ) async throws {
        let proof = TenantProof.allCases[index]
        let row = try #require(table[proof.rawValue])
        for end in TenantProofEnd.allCases {
            let cell = try await proof.cell(end)
            #expect(cell == row[end.rawValue], "\(proof.rawValue), \(end.rawValue)")
        }
    }

    @Test func `a proof within a tenant's apps is accepted only if docs/verify.md lists it`() {
        #expect(Set(table.keys) == Set(TenantProof.allCases.map(\.rawValue)))
        for (proof, row) in table {
            #expect(Set(row.keys) == Set(TenantProofEnd.allCases.map(\.rawValue)), "\(proof)")
        }
    }
}
