import EventSourcing
import HTTP
import Identity
import JSON
import Synchronization
import Testing
import Values

@testable import API

/// That every way of signing in says where from is seen by `WatchedLog.checkPlaces` in the tests of each.
@Suite struct `The place of a sign-in` {
    /// The events of a wrong code and of the right one.
    private func signIns(_ world: SignInWorld) async throws -> [Recorded] {
        _ = try await world.requestCode(["Email": "ann@example.org"])
        for code in ["000000", try await world.mailedCode()] {
            _ = try await world.post(
                "/connect/token",
                form: [
                    ("grant_type", "urn:cocoar:otp"), ("client_id", "phone"), ("otp_code", code),
                    ("username", "ann@example.org"),
                ])
        }
        return try await world.log.events(from: 1, limit: .max, in: world.realm)
            .filter { ["session.refused", "session.opened"].contains($0.name) }
    }

    @Test func `country, system and square are open, city and coordinates are sealed`() async throws
    {
        let events = try await signIns(try await SignInWorld())
        #expect(events.map(\.name) == ["session.refused", "session.opened"])
        for event in events {
            #expect(event.open["country"] == "CH" && event.open["asn"] == 3303)
            #expect(event.open["area"] == "N47E008")
            #expect(event.open["city"] == nil && event.open["coordinates"] == nil)
            guard case .opened(let sealed) = event.personal else {
                Issue.record("Nothing is sealed.")
                continue
            }
            #expect(sealed["city"] == "Zurich" && sealed["coordinates"] == "47.3769,8.5417")
            #expect(event.personalFields(for: .person)["city"] == "Zurich")
        }
    }

    @Test func `a realm that records no places has none, and nobody is asked`() async throws {
        let asked = Atomic(0)
        let world = try await SignInWorld(
            ["registration": "jit_on_otp", "record_places": false],
            locate: { _ in
                asked.add(1, ordering: .relaxed)
                return knownPlace
            })
        for event in try await signIns(world) {
            #expect(event.open["source"] != nil && event.open["country"] == nil)
            guard case .opened(let sealed) = event.personal else { continue }
            #expect(sealed["city"] == nil && sealed["$address"] != nil)
        }
        #expect(asked.load(ordering: .relaxed) == 0)
    }

    @Test func `an address that no database knows leaves the place out`() async throws {
        let events = try await signIns(
            try await SignInWorld(["registration": "jit_on_otp"], locate: { _ in nil }))
        #expect(events.count == 2)
        #expect(events.allSatisfy { $0.open["country"] == nil && $0.open["area"] == nil })
    }

    @Test func `the address that is asked for is the one behind the proxies that are believed`()
        async throws
    {
        let asked = Mutex<[String]>([])
        let proxy = try #require(Network("203.0.113.7"))
        let world = try await SignInWorld(
            ["registration": "jit_on_otp"], forwarding: Forwarding(trusted: [proxy]),
            locate: { address in
                asked.withLock { $0.append(address.description) }
                return knownPlace
            })
        for source in ["203.0.113.7", "203.0.113.8"] {
            _ = try await world.send(
                Request(
                    method: .post, path: "/connect/token", query: nil,
                    headers: [
                        "Host": "id.acme.example", "X-Forwarded-For": "81.2.69.142",
                        "Content-Type": "application/x-www-form-urlencoded",
                    ],
                    body: Array(
                        Form.encode([
                            ("grant_type", "urn:cocoar:otp"), ("client_id", "phone"),
                            ("otp_code", "000000"), ("username", "ann@example.org"),
                        ]).utf8), source: source, id: "request-12"))
        }
        #expect(asked.withLock { $0.first } == "81.2.69.142")
        #expect(asked.withLock { $0.last } == "203.0.113.8")
    }

    @Test func `events that say the network say the place, and no others do`() {
        for shape in EventCatalogue.newest {
            let names = Set(shape.fields.map(\.name))
            let isPlaced = placedEvents.contains(shape.name) || shape.name == "session.ended"
            #expect(
                names.isSuperset(of: ["country", "asn", "area", "city"]) == isPlaced,
                "\(shape.name)")
            for field in shape.fields where ["city", "coordinates"].contains(field.name) {
                #expect(
                    field.isSealed && field.isOfRequest && field.visibility == .personal(.person))
            }
        }
    }

    @Test func `what is sealed of a request nobody's event holds beside a person's`() throws {
        let refused = RefusedSignIn(
            method: .nativeOTP, reason: "invalid_code", account: nil, client: .zero,
            clientID: "phone", app: nil, from: SignInPlace(source: "there", location: knownPlace))
        let event = NewEvent(SessionEvent.refused(refused), in: UUID.random())
        #expect(event.subject == nil && event.personal.isEmpty)
        #expect(event.origin([:], besideSomebodys: true).isEmpty)
        #expect(event.origin(["$address": "x"], besideSomebodys: false)["city"] == "Zurich")
    }
}
