import EventSourcing
import Identity
import LogTesting
import Testing
import Values

@Suite struct `Assigning a host` {
    let acme: RealmID
    let other: RealmID

    init() throws {
        acme = try #require(RealmID("acme"))
        other = try #require(RealmID("other"))
    }

    func assigned(_ realm: RealmID) -> HostEvent {
        .assigned(host: "login.example.org", realm: realm)
    }

    func assign(_ realm: RealmID, _ name: String = "login.example.org")
        -> HostChange.Change<HostChange.AssignRejection>
    {
        HostChange.assign(host, host: name, realm: realm)
    }

    let claim = Claim("host", "login.example.org")

    @Test func `assigning a host makes it lead to the realm`() async throws {
        try await given().when(assign(acme)).then(assigned(acme), in: host, taking: [claim])
    }

    @Test func `assigning a host twice appends nothing`() async throws {
        try await given(assigned(acme), in: host).when(assign(acme)).thenNothing()
    }

    @Test func `assigning a host of another realm is refused`() async throws {
        try await given(assigned(acme), in: host).when(assign(other)).thenRejected(.hostTaken)
        try await given().when(assign(other)).thenRejected(.hostTaken, whenTaken: claim)
    }

    @Test func `assigning a host is refused under another host's id`() async throws {
        try await given(assigned(acme), in: host).when(assign(acme, "www.example.org"))
            .thenRejected(.idTaken)
    }

    @Test func `assigning a host is possible after its release`() async throws {
        try await given(assigned(acme), HostEvent.released, in: host).when(assign(other))
            .then(assigned(other), in: host, taking: [claim])
    }

    @Test(
        arguments: [
            "a", "localhost", "localhost:8080", "a.b.c", "xn--bcher-kva.example", "127.0.0.1:8443",
            "3com.example", "a-b.example:1", "a.example:65535",
            "\(String(repeating: "a", count: 63)).example",
        ])
    func `assigning a host takes it as written in a request`(name: String) async throws {
        try await given().when(assign(acme, name))
            .then(
                HostEvent.assigned(host: name, realm: acme), in: host,
                taking: [Claim("host", name)])
    }

    @Test(
        arguments: [
            "", ".", "a.", ".a", "a..b", "A.example", "*.example", "bücher.example", "a_b.example",
            "-a.example", "a-.example", "a.example:", "a.example:0", "a.example:080",
            "a.example:65536", "a.example:443", "a.example:80", "a.example:8080:1", "a b", "a/b",
            "http://a", "[::1]", "a.example:+1", "ab--cd.example", "xn--.example", "a\n",
            "\(String(repeating: "a", count: 64)).example",
            Array(repeating: "abcdefgh", count: 29).joined(separator: "."),
        ])
    func `assigning an invalid host is refused`(name: String) async throws {
        try await given().when(assign(acme, name))
            .thenRejected(.invalid(FieldFault("host", .malformed)))
    }

    @Test func `assigning a host ends with its release`() async throws {
        try await given(assigned(acme), in: host).when(HostChange.release(host))
            .then(HostEvent.released, in: host, releasing: [claim])
    }

    @Test func `releasing a host twice appends nothing`() async throws {
        try await given().when(HostChange.release(host)).thenRejected(.notFound)
        try await given(assigned(acme), HostEvent.released, in: host).when(HostChange.release(host))
            .thenRejected(.notFound)
    }
}
