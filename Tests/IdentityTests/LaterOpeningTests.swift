import EventSourcing
import Foundation
import Identity
import JSON
import LogTesting
import Testing
import Values

private typealias ID = Values.UUID

/// What a person agrees to first and what is opened by it later, under its name in `docs/session-ends.md`.
private enum Later: String, CaseIterable {
    case code = "authorization code"
    case flagshipCode = "authorization code of the flagship profile"
    case device = "approval of a device"
    case sessionCode = "session code"
    case assertion = "assertion for a service"
    case answer = "answer of a trusted device"
    case exchange = "token to be exchanged"
}

/// What happens between the two.
private enum Between: String, CaseIterable {
    case nothing
    case removed = "access removed"
    case removedElsewhere = "access of another client removed"
    case removedBefore = "agreed to after a removal"
    case signedOut = "signed out everywhere"
    case moved = "mailbox moved"
    case disabled = "account disabled and enabled"
}

private let page = ID(high: 83, low: 1)
private let gateway = ID(high: 83, low: 2)
private let origin = ID(high: 83, low: 3)
private let elsewhere = ID(high: 83, low: 4)

extension Later {
    /// Which is let in.
    private var client: ID {
        switch self {
        case .code, .device, .answer: IdentityTests.client
        case .flagshipCode, .sessionCode: installation
        case .assertion: Federation.serviceClient
        case .exchange: gateway
        }
    }

    private var account: ID {
        switch self {
        case .flagshipCode, .sessionCode: Owned.owner
        case .code, .device, .assertion, .answer, .exchange: IdentityTests.account
        }
    }

    private var now: Timestamp {
        switch self {
        case .flagshipCode, .sessionCode: Owned.now
        case .code, .device, .assertion, .answer, .exchange: noon
        }
    }

    /// It is agreed to when the account has removed access so often.
    private func agreed(_ removals: Int, in world: Scenario) throws -> Scenario {
        let stamp = SecurityStamp(number: 0, removals: removals)
        switch self {
        case .code, .flagshipCode:
            return world
        case .device:
            return world.given(
                DeviceEvent.approved(
                    DeviceApproval(
                        account: account, stamp: stamp, factors: [.mailedCode], signedInAt: noon,
                        at: noon)), in: origin)
        case .sessionCode:
            return world.given(
                SessionCodeEvent.issued(
                    SessionCodeTerms(
                        account: account, stamp: stamp,
                        opener: Opener(installation: installation), factors: [.passphrase],
                        expiresAt: Owned.now.adding(seconds: 60))), in: Owned.code)
        case .assertion:
            return world.given(
                Federation.issued(removals: removals), in: Federation.assertionStream)
        case .answer:
            return world.given(
                ApprovalEvent.requested(approvalTerms(removals: removals)), in: approvalStream
            )
            .given(awaited, in: methodsStream)
            .given(
                ApprovalEvent.answered(
                    isApproved: true, key: deviceKey().id, account: account, client: client,
                    at: noon), in: approvalStream)
        case .exchange:
            let terms = SessionTerms(
                account: account, stamp: stamp, client: IdentityTests.client, clientID: "web",
                app: nil, scope: ["openid"], resources: ["https://gateway.example"],
                factors: [.mailedCode], openedAt: noon, expiresAt: noon.adding(seconds: 86_400),
                isOffline: true)
            return world.given(SessionEvent.opened(terms), in: origin)
        }
    }

    private func signedIn(_ world: Scenario, _ factor: AuthenticationFactor) throws -> Scenario {
        world.given(
            BrowserSessionEvent.opened(
                BrowserTerms(
                    account: account, stamp: 0, method: .passkey, factors: [factor],
                    digest: try digest(7), openedAt: now, expiresAt: now.adding(seconds: 3_600))),
            in: page)
    }

    private func world() async throws -> Scenario {
        switch self {
        case .code:
            return try signedIn(
                givenNativeRealm(metadata: ["consent": "none"])
                    .given(registeredAccount(), in: account), .mailedCode)
        case .flagshipCode:
            return try signedIn(try await givenOwner(client: Owned.certified), .passphrase)
        case .device:
            return givenRealm()
                .given(
                    try registered(
                        [
                            "token_endpoint_auth_method": "none",
                            "grant_types": ["urn:ietf:params:oauth:grant-type:device_code"],
                        ], secret: nil), in: client
                )
                .given(registeredAccount(), in: account)
                .given(
                    DeviceEvent.requested(
                        DeviceTerms(
                            client: client, clientID: "web", app: nil, scope: ["openid"],
                            resources: [], expiresAt: noon.adding(seconds: 600))), in: origin)
        case .sessionCode: return try await givenOwner(client: Owned.certified)
        case .assertion: return try Federation.given()
        case .answer:
            return try givenTenant().given(enrolled(deviceKey()), in: methodsStream)
        case .exchange:
            return try givenNativeRealm()
                .given(
                    try registered(
                        [
                            "grant_types": ["urn:ietf:params:oauth:grant-type:token-exchange"],
                            "token_exchange": "delegation",
                            "audiences": ["https://gateway.example"],
                        ], secret: digest(9)), in: gateway
                )
                .given(registeredAccount(), in: account)
        }
    }

    private func events(_ world: Scenario, _ removals: Int) async throws -> [String] {
        func names(_ command: some Command) async throws -> [String] {
            (try? await world.when(command).result.get().events.map(\.name)) ?? []
        }
        func request(_ proof: ClientProof = .none) -> GrantRequest {
            GrantRequest(client: client, clientID: "web", proof: proof, session: session, now: noon)
        }
        switch self {
        case .code:
            return try await names(
                RedeemGrant(
                    AuthorizationCodeGrant(
                        code: try code(removals, .mailedCode), consent: nil,
                        redirect: try digest(1), verifier: try digest(2)), request()))
        case .flagshipCode:
            return try await names(
                RedeemInstallationCode(
                    code: try code(removals, .passphrase), verifier: try digest(2),
                    installation: installation, secret: try digest(1), now: now))
        case .device:
            return try await names(RedeemGrant(DeviceGrant(device: origin), request()))
        case .sessionCode:
            return try await names(
                SignInBrowser(
                    SessionCodeProof(code: Owned.code), by: .sessionCode, session: page,
                    digest: try digest(9), now: Owned.now))
        case .assertion: return try await names(Federation.redeem())
        case .answer:
            return try await names(
                RedeemGrant(
                    TenantSignIn(ApprovalProof(approval: approvalStream, owner: methodOwner)),
                    request()))
        case .exchange:
            let shown = ShownToken(
                session: origin, scope: ["openid"], audience: ["https://gateway.example"],
                expiresAt: noon.adding(seconds: 300))
            return try await names(
                RedeemGrant(TokenExchangeGrant(subject: shown), request(.secret(try digest(9)))))
        }
    }

    private func code(_ removals: Int, _ factor: AuthenticationFactor) throws -> AuthorizationCode {
        var code = AuthorizationCode(
            id: session, client: client, account: account, browser: page,
            redirect: try digest(1), challenge: try digest(2),
            scope: self == .code ? ["openid"] : ["*"], authenticatedAt: now, factors: [factor],
            expiresAt: now.adding(seconds: 60))
        code.removals = removals
        return code
    }

    /// What comes of it.
    func cell(_ between: Between) async throws -> String {
        let removed = AccountEvent.accessRemoved(.client(client), number: 1)
        var (world, removals) = (try await world(), 0)
        if between == .removedBefore {
            world = world.given(removed, in: account)
            removals = 1
        }
        world = try agreed(removals, in: world)
        switch between {
        case .nothing, .removedBefore: break
        case .removed: world = world.given(removed, in: account)
        case .removedElsewhere:
            world = world.given(
                AccountEvent.accessRemoved(.client(elsewhere), number: 1), in: account)
        case .signedOut: world = world.given(AccountEvent.stampRotated(mail: nil), in: account)
        case .moved:
            world = world.given(
                AccountEvent.mailboxMoved(mailbox: elsewhere, left: mailbox), in: account)
        case .disabled:
            world = world.given(AccountEvent.disabled(), AccountEvent.enabled, in: account)
        }
        let opened = try await events(world, removals).contains {
            $0 == "session.opened" || $0 == "browser.opened"
        }
        return opened ? "opens" : "void"
    }
}

/// The table of `docs/session-ends.md`, by what was agreed to and what happened.
private let table: [[String]] = {
    let path = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "docs/session-ends.md")
    let text = (try? String(contentsOf: path, encoding: .utf8)) ?? ""
    let lines = text.components(separatedBy: "\n").drop { !$0.hasPrefix("| agreed to |") }
    return lines.prefix { $0.hasPrefix("|") }.map { line in
        line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }
}()

@Suite struct `What is agreed to first and opened later` {
    @Test func `what is agreed to first is held against what happens until it is redeemed`()
        async throws
    {
        let columns = try #require(table.first).dropFirst()
        #expect(Array(columns) == Between.allCases.map(\.rawValue))
        #expect(table.dropFirst(2).map(\.first) == Later.allCases.map(\.rawValue))
        for row in table.dropFirst(2) {
            let later = try #require(Later(rawValue: row[0]))
            for (between, cell) in zip(Between.allCases, row.dropFirst()) {
                #expect(
                    try await later.cell(between) == cell,
                    "\(later.rawValue): \(between.rawValue)")
            }
        }
    }
}
