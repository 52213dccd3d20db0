import EventSourcing
import HTTP
import Identity
import JSON
import ReadModels
import Testing
import Values

@testable import API

@Suite struct `The place of a request` {
    private let directory = HostDirectory()
    private let acme: RealmID
    private let other: RealmID
    private let places: Places

    init() throws {
        acme = try #require(RealmID("acme"))
        other = try #require(RealmID("other"))
        places = Places(
            directory, forwarding: Forwarding(ports: [8080]), capacity: 16)
    }

    private func place(
        _ host: String, _ headers: [(String, String)] = [], _ places: Places? = nil
    ) async throws(Problem) -> Place {
        var request = Request(method: .get, path: "/", source: "192.0.2.1")
        request.headers["Host"] = host
        for (name, value) in headers { request.headers.append(name, value) }
        return try await (places ?? self.places).place(of: request)
    }

    private func refusal(_ host: String) async -> ProblemKind? {
        do {
            _ = try await place(host)
            return nil
        } catch {
            return error.kind
        }
    }

    @Test func `a request's realm is that of its assigned host`() async throws {
        directory.add(acme, hosts: ["id.acme.example"])
        directory.add(other, hosts: ["other.example", "acme.example:9000"])
        let place = try await place("ID.acme.example")
        #expect(place.realm == acme)
        #expect(place.app == nil)
        #expect(place.host == "id.acme.example")
        #expect(place.address == "192.0.2.1")
        #expect(place.issuer == "http://id.acme.example")
        #expect(try await self.place("acme.example:9000").realm == other)
        #expect(await refusal("acme.example") == .unknownHost)
        #expect(await refusal("nobody.example") == .unknownHost)
        #expect(await refusal("deep.id.acme.example") == .unknownHost)
        #expect(await refusal("a_b") == .malformedHost)
        #expect(await refusal("[::1]:8080") == .unknownHost)
    }

    @Test func `a request at an unassigned host is refused, naming the issuers only where allowed`()
        async throws
    {
        directory.add(acme, hosts: ["id.acme.example"])
        let telling = Places(
            directory,
            issuers: { () throws(LogFailure) in
                ["http://id.acme.example (acme)", "http://x.example (x)"]
            })
        for (places, words) in [
            (telling, "http://id.acme.example (acme), http://x.example (x)"), (self.places, ""),
            (Places(directory, issuers: { () throws(LogFailure) in throw .unavailable }), ""),
        ] {
            do {
                _ = try await place("127.0.0.1:8080", [], places)
                Issue.record("There is a realm.")
            } catch {
                #expect(error.kind == .unknownHost)
                #expect(words.isEmpty ? error.detail.isEmpty : error.detail.contains(words))
            }
        }
        #expect(try await place("id.acme.example", [], telling).realm == acme)
    }

    @Test func `a request at a sub-domain of the realm's primary domain is the app's`() async throws
    {
        directory.add(
            acme, hosts: ["acme.example"],
            ["primary_domain": "acme.example", "otp_attempts": 2, "code_lifetime": 30])
        let desk = directory.add(app: "desk", to: acme, ["otp_attempts": 5])
        let place = try await place("desk.acme.example:8080")
        #expect(place.realm == acme)
        #expect(place.app == desk)
        #expect(place.settings[SettingCatalogue.otpAttempts] == 5)
        #expect(place.settings[SettingCatalogue.codeLifetime] == 30)
        #expect(place.settings[SettingCatalogue.otpLifetime] == 600)
        #expect(place.issuer == "http://desk.acme.example:8080")
        let realm = try await self.place("acme.example")
        #expect(realm.app == nil)
        #expect(realm.settings[SettingCatalogue.otpAttempts] == 2)
        #expect(await refusal("shop.acme.example") == .unknownHost)
        #expect(await refusal("x.desk.acme.example") == .unknownHost)
    }

    @Test func `a request at an app's own assigned host is the app's`() async throws {
        directory.add(
            acme, hosts: ["desk.acme.example", "plain.acme.example"],
            ["primary_domain": "acme.example"])
        let desk = directory.add(app: "desk", to: acme)
        #expect(try await place("desk.acme.example").app == desk)
        #expect(try await place("plain.acme.example").app == nil)
    }

    @Test func `a primary domain that a realm only claims assigns no host`() async throws {
        directory.add(acme, hosts: ["acme.example"], ["primary_domain": "acme.example"])
        directory.add(other, hosts: ["other.example"], ["primary_domain": "acme.example"])
        directory.add(app: "desk", to: other)
        #expect(await refusal("desk.acme.example") == .unknownHost)
        #expect(await refusal("desk.other.example") == .unknownHost)
    }

    @Test func `a request's realm is closed while disabled and unknown while missing`() async throws
    {
        directory.add(acme, hosts: ["acme.example"], isDisabled: true)
        #expect(await refusal("acme.example") == .realmClosed)
        directory.change(.system) { [other] in
            $0.hosts["ghost.example"] = other
            $0.hosts["system.example"] = .system
        }
        #expect(await refusal("ghost.example") == .unknownHost)
        #expect(await refusal("system.example") == .unknownHost)
    }

    @Test func `a realm's configured issuer comes before the requested host`() async throws {
        directory.add(
            acme, hosts: ["acme.example", "old.example"],
            ["primary_domain": "acme.example", "links_base_url": "https://id.acme.example/x//"])
        directory.add(app: "desk", to: acme, ["links_base_url": "https://desk.example"])
        for host in ["acme.example", "old.example", "acme.example:666"] {
            let place = try await place(host)
            #expect(place.issuer == "https://id.acme.example/x")
            #expect(place.links == "https://id.acme.example/x")
        }
        let desk = try await place("desk.acme.example")
        #expect(desk.issuer == "https://id.acme.example/x")
        #expect(desk.links == "https://desk.example")
    }

    @Test func `a realm's issuer has no port that no trusted proxy names`() async throws {
        directory.add(acme, hosts: ["acme.example", "acme.example:9000"])
        #expect(try await place("acme.example:8080").issuer == "http://acme.example:8080")
        #expect(try await place("acme.example:9000").issuer == "http://acme.example:9000")
        #expect(try await place("acme.example:80").issuer == "http://acme.example")
        #expect(try await place("acme.example:666").issuer == "http://acme.example")
        #expect(try await place("acme.example:666").links == "http://acme.example")
    }

    @Test func `a request's host is read from headers of trusted proxies alone`() async throws {
        directory.add(acme, hosts: ["acme.example"])
        directory.add(other, hosts: ["other.example"])
        let claims = [
            ("X-Forwarded-Host", "other.example"), ("X-Forwarded-Proto", "https"),
            ("X-Forwarded-For", "203.0.113.9"),
        ]
        let plain = try await place("acme.example", claims)
        #expect(plain.realm == acme)
        #expect(plain.issuer == "http://acme.example")
        #expect(plain.address == "192.0.2.1")
        let network = try #require(Network("192.0.2.0/24"))
        let behind = Places(directory, forwarding: Forwarding(trusted: [network]))
        let proxied = try await place("acme.example", claims, behind)
        #expect(proxied.realm == other)
        #expect(proxied.issuer == "https://other.example")
        #expect(proxied.address == "203.0.113.9")
    }

    @Test func `a cached realm is kept exactly until its configuration changes`() async throws {
        directory.add(acme, hosts: ["acme.example"], ["primary_domain": "acme.example"])
        directory.add(other, hosts: [])
        _ = try await place("acme.example")
        let asked = directory.asked
        for _ in 0..<10 { _ = try await place("acme.example") }
        #expect(directory.asked == asked)
        #expect(await refusal("desk.acme.example") == .unknownHost)
        let desk = directory.add(app: "desk", to: acme)
        #expect(try await place("desk.acme.example").app == desk)
        directory.change(acme) { $0.apps = [:] }
        #expect(await refusal("desk.acme.example") == .unknownHost)
        directory.change(acme) { [acme] in $0.realms[acme]?.isDisabled = true }
        #expect(await refusal("acme.example") == .realmClosed)
        directory.change(acme) { [acme] in $0.realms[acme]?.isDisabled = false }
        directory.change(.system) { [other] in $0.hosts["acme.example"] = other }
        #expect(try await place("acme.example").realm == other)
        directory.change(.system) { $0.hosts = [:] }
        #expect(await refusal("acme.example") == .unknownHost)
    }

    @Test func `a realm is unknown while the log cannot be read, and known again at once`()
        async throws
    {
        directory.add(acme, hosts: ["acme.example"])
        directory.change(.system) { $0.failure = .unavailable }
        #expect(await refusal("acme.example") == .unavailable)
        directory.change(other) { $0.failure = nil }
        #expect(try await place("acme.example").realm == acme)
    }

    @Test func `a realm asked for by many requests at once is read once`() async throws {
        directory.add(acme, hosts: ["acme.example"])
        directory.hold()
        let finding = Task { [places] in
            try await withThrowingTaskGroup(of: RealmID.self) { group in
                for _ in 0..<50 {
                    group.addTask {
                        try await places.place(
                            of: Request(
                                method: .get, path: "/", headers: ["Host": "acme.example"],
                                source: "192.0.2.1")
                        ).realm
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
        }
        while directory.waiting == 0 { await Task.yield() }
        directory.release()
        #expect(try await finding.value == Array(repeating: acme, count: 50))
        #expect(directory.asked == 2)
    }

    @Test func `a cached realm is never older than the changes before the request`() async throws {
        directory.add(acme, hosts: ["acme.example"])
        directory.hold()
        let early = Task { try await place("acme.example").realm }
        while directory.waiting == 0 { await Task.yield() }
        directory.add(other, hosts: [])
        directory.change(.system) { [other] in $0.hosts["acme.example"] = other }
        let late = Task { try await place("acme.example").realm }
        for _ in 0..<100 { await Task.yield() }
        directory.release()
        #expect(try await late.value == other)
        #expect(try await early.value == acme)
        // What was read too early is not what is kept.
        #expect(try await place("acme.example").realm == other)
    }
}
