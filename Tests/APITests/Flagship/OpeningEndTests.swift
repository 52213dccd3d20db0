import EventSourcing
import Foundation
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

/// Whether what was opened is good still; to ask may use it up where it is.
private typealias Good = (inout OpeningWorld) async throws -> Bool

extension Opening {
    fileprivate func open(in world: inout OpeningWorld) async throws -> Good {
        switch self {
        case .passphraseBrowser, .linkBrowser, .webView, .plainWebView, .linkWebView,
            .openedPlace, .handedPlace:
            return try await openBrowser(in: &world)
        case .sessionCode, .plainSessionCode, .handedCode:
            return try await openCode(in: &world)
        case .browserCode, .webViewCode, .linkBrowserSession, .webViewSession:
            return try await openByPage(in: &world)
        case .delegatedCode, .providersToken: return try await openAtProvider(in: &world)
        case .appSession:
            return tokens(try await world.signInPhone(), of: world.phone)
        case .linkAppSession:
            _ = try await world.world.requestLink()
            let answer = try await world.world.redeemLink(
                world.phone, try await world.world.magicCode())
            world.access = try #require(answer.json["access_token"]?.string)
            return tokens(answer, of: world.phone)
        case .webAppToken:
            _ = try await world.signInPhone()
            let opened = try await world.world.open("drive", world.access)
            let token = try #require(opened.json["data"]?["attributes"]?["Token"]?.string)
            return { try await $0.world.world.introspect(token)["active"] == true }
        case .push:
            _ = try await world.signInPhone()
            return { try await $0.isPushed() }
        case .plainPush:
            world.browser = try await world.webView(try await world.plainCode())
            return { try await $0.isPushed() }
        case .storeCertification, .mailedCertification:
            if self == .mailedCertification {
                #expect(try await world.certifyByMail(world.phone))
            }
            return {
                try await $0.world.login($0.phone, $0.passphrase).json["access_token"] != nil
            }
        }
    }

    private func openBrowser(in world: inout OpeningWorld) async throws -> Good {
        let browser: PageBrowser
        switch self {
        case .passphraseBrowser: browser = try await world.passphraseBrowser()
        case .linkBrowser: browser = try await world.linkBrowser()
        case .plainWebView: browser = try await world.webView(try await world.plainCode())
        case .linkWebView:
            _ = try await world.world.requestLink()
            let answer = try await world.world.redeemLink(
                world.phone, try await world.world.magicCode())
            browser = try await world.webView(
                try #require(answer.json["session_code"]?.string))
        case .openedPlace:
            _ = try await world.signInPhone()
            let opened = try await world.world.open("drive", world.access)
            let line = try #require(opened.json["data"]?["attributes"]?["Cookie"]?.string)
            browser = world.world.browser(at: "drive.id.acme.example")
            browser.cookies["cozysessid"] = String(
                line.dropFirst("cozysessid=".count).prefix { $0 != ";" })
            return { try await $0.isSignedIn(browser, "/") }
        case .handedPlace:
            let own = try await world.passphraseBrowser()
            world.browser = own
            browser = try await world.place(try await world.handedCode(own))
            return { try await $0.isSignedIn(browser, "/") }
        default:
            _ = try await world.signInPhone()
            browser = try await world.webView(
                try await world.world.sessionCodeText(world.access))
        }
        world.browser = browser
        return { try await $0.isSignedIn(browser) }
    }

    private func openCode(in world: inout OpeningWorld) async throws -> Good {
        let code: String
        switch self {
        case .plainSessionCode: code = try await world.plainCode()
        case .handedCode:
            let browser = try await world.passphraseBrowser()
            world.browser = browser
            code = try await world.handedCode(browser)
            return { world in
                let place = try await world.place(code)
                return try await world.isSignedIn(place, "/")
            }
        default:
            _ = try await world.signInPhone()
            code = try await world.world.sessionCodeText(world.access)
        }
        return { world in
            let browser = try await world.webView(code)
            return try await world.isSignedIn(browser)
        }
    }

    /// What an app shows that a provider vouches for: it lets another device in.
    private func openAtProvider(in world: inout OpeningWorld) async throws -> Good {
        let shown: JSONObject
        if self == .delegatedCode {
            let code = try await world.world.delegatedCode(session: "s-1")
            shown = ["code": .string(code)]
        } else {
            shown = ["id_token": .string(world.provider.idToken("248289761001", ["sid": "s-1"]))]
        }
        return { world in
            let other = try await world.world.certified("Tablet")
            let members = shown.merging(["scope": "*"]) { $1 }
            return try await world.world.send(
                .post, "/oidc/access_token", json: other.members(members)
            ).status == .ok
        }
    }

    /// What an app of another device is given on a page.
    private func openByPage(in world: inout OpeningWorld) async throws -> Good {
        let browser: PageBrowser
        switch self {
        case .browserCode: browser = try await world.passphraseBrowser()
        case .linkBrowserSession: browser = try await world.linkBrowser()
        default:
            _ = try await world.signInPhone()
            browser = try await world.webView(
                try await world.world.sessionCodeText(world.access))
        }
        world.browser = browser
        let other = try await world.world.certified("Tablet")
        world.letIn = other
        let code = try await world.authorizationCode(browser, for: other)
        guard self == .browserCode || self == .webViewCode else {
            return tokens(try await world.world.redeem(other, code), of: other)
        }
        return { try await $0.world.redeem(other, code).status == .ok }
    }

    /// An access token that is good, and a refresh token that gives another one: both, or neither.
    private func tokens(_ answer: Answered, of app: TestInstallation) -> Good {
        let access = answer.json["access_token"]?.string ?? ""
        let refresh = answer.json["refresh_token"]?.string ?? ""
        return { world in
            let isGood = try await world.world.sessionCode(access).status == .created
            let refreshed = try await world.world.refresh(app, refresh)
            #expect(isGood == (refreshed.status == .ok), "\(rawValue)")
            return isGood || refreshed.status == .ok
        }
    }

    /// What comes of it by an event: a cell of the table.
    fileprivate func cell(_ end: OpeningEnd) async throws -> String {
        var world = try await OpeningWorld(self)
        let isGood = try await open(in: &world)
        guard try await world.end(end) else { return "–" }
        if try await isGood(&world) { return "stays" }
        guard end == .certificationRevoked, self != .storeCertification,
            self != .mailedCertification
        else { return "ends" }
        let device = try AppleDevice(world.world.apple)
        let again = try await world.world.attest(
            world.phone,
            device.attestation(try await world.world.challenge(world.phone)).json)
        #expect(again.status == .noContent)
        return try await isGood(&world) ? "sleeps" : "ends"
    }

    /// Before anything happened.
    fileprivate func isGoodAtFirst() async throws -> Bool {
        var world = try await OpeningWorld(self)
        let isGood = try await open(in: &world)
        return try await isGood(&world)
    }
}

/// The table of `docs/ends.md`, by what was opened and what happened.
private let table: [String: [String: String]] = {
    let path = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "docs/ends.md")
    let text = (try? String(contentsOf: path, encoding: .utf8)) ?? ""
    let rows = text.split(separator: "\n").filter { $0.hasPrefix("| ") }.map { line in
        line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }
    guard let head = rows.first(where: { $0.first == "opened" }) else { return [:] }
    return rows.filter { $0.count == head.count && $0 != head }.reduce(into: [:]) {
        $0[$1[0]] = Dictionary(zip(head, $1).dropFirst()) { first, _ in first }
    }
}()

@Suite struct `What a proof opened` {
    @Test(arguments: Opening.allCases)
    func `what a proof opened ends with the events in docs/ends.md and survives others`(
        _ opening: Opening
    ) async throws {
        #expect(try await opening.isGoodAtFirst(), "\(opening.rawValue)")
        let row = table[opening.rawValue]
        for end in OpeningEnd.allCases {
            let cell = try await opening.cell(end)
            #expect(cell == row?[end.rawValue], "\(opening.rawValue), \(end.rawValue)")
        }
    }

    @Test func `what a proof opened is in docs/ends.md, with all that may end it`() {
        #expect(Set(table.keys) == Set(Opening.allCases.map(\.rawValue)))
        for (opening, row) in table {
            #expect(Set(row.keys) == Set(OpeningEnd.allCases.map(\.rawValue)), "\(opening)")
        }
    }
}
