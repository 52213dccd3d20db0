import HTTP
import Testing

@testable import HTTPClient

private func bytes(_ text: String) -> [UInt8] { IPAddress(text)?.bytes ?? [] }

@Suite struct `The rules about addresses` {
    @Test(arguments: [
        "127.0.0.1", "127.255.255.255", "0.0.0.0", "10.1.2.3", "100.64.0.1", "169.254.169.254",
        "172.16.0.1", "172.31.255.255", "192.168.1.1", "192.0.2.1", "198.18.0.1", "198.51.100.7",
        "203.0.113.9", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255", "::", "::1",
        "fe80::1", "fec0::1", "fc00::1", "fd12:3456::1", "ff02::1", "::ffff:127.0.0.1",
        "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::808:808", "2001::1", "2001:db8::1", "2002:7f00:1::", "3fff::1", "100::1",
        "fd00:ec2::254",
    ])
    func `the address rules refuse private addresses`(address: String) {
        #expect(!Destinations.publicOnly().allow(bytes(address)))
        #expect(Destinations.any.allow(bytes(address)))
    }

    @Test(arguments: [
        "8.8.8.8", "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0",
        "172.15.255.255", "172.32.0.0", "192.167.255.255", "223.255.255.255",
        "2606:4700:4700::1111", "2a00:1450::1", "::ffff:8.8.8.8", "64:ff9b::808:808",
    ])
    func `the address rules allow public addresses`(address: String) {
        #expect(Destinations.publicOnly().allow(bytes(address)))
    }

    @Test func `the address rules have exceptions`() throws {
        let ranges = try ["10.1.0.0/16", "127.0.0.1", "fd00::/8"].map {
            try #require(AddressRange($0))
        }
        let rules = Destinations.publicOnly(except: ranges)
        for address in ["10.1.2.3", "127.0.0.1", "::ffff:127.0.0.1", "fd00::1", "8.8.8.8"] {
            #expect(rules.allow(bytes(address)), "\(address)")
        }
        for address in ["10.2.0.1", "127.0.0.2", "fc00::1", "::1"] {
            #expect(!rules.allow(bytes(address)), "\(address)")
        }
        #expect(!rules.allow([]))
        #expect(!rules.allow([1, 2, 3]))
    }

    @Test(arguments: [
        "", "10.0.0.0/", "10.0.0.0/33", "10.0.0.1/8", "10.0.0.0/08", "10/8", "::/129", "x/8",
        "10.0.0.0/8/8", "10.0.0.0/-1", "10.0.0.0/+8", "fd00::1/8",
    ])
    func `the address rules refuse malformed ranges`(text: String) {
        #expect(AddressRange(text) == nil)
    }

    @Test(arguments: ["0.0.0.0/0", "10.0.0.0/9", "10.128.0.0/9", "::/0", "::1/128", "8.8.8.8"])
    func `the address rules read ranges`(text: String) {
        #expect(AddressRange(text) != nil)
    }
}

@Suite struct `A client that calls public addresses only` {
    private func code(
        _ url: String, redirects: Int = 0, except: [AddressRange] = []
    ) async throws -> Failure.Code? {
        var configuration = Configuration()
        configuration.timeout = .seconds(10)
        configuration.maximumRedirects = redirects
        configuration.destinations = .publicOnly(except: except)
        let client = try WebClient(configuration)
        do throws(Failure) {
            _ = try await client.send(OutgoingRequest(url: url))
            return nil
        } catch {
            return error.code
        }
    }

    @Test func `a public-only client connects to the checked address, not to the name again`()
        async throws
    {
        let server = try ChildServer("http_server.py")
        for host in ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0"] {
            let found = try await code("http://\(host):\(server.port)/status/204")
            #expect(found == .forbiddenAddress, "\(host)")
        }
        let exception = try #require(AddressRange("127.0.0.1"))
        #expect(
            try await code("http://localhost:\(server.port)/status/204", except: [exception])
                == nil)
    }

    @Test func `a public-only client checks the address of a redirect`() async throws {
        let server = try ChildServer("http_server.py")
        let exception = try #require(AddressRange("127.0.0.1"))
        for target in ["127.0.0.2", "[::ffff:127.0.0.2]", "0.0.0.0"] {
            let place = Percent.encode("http://\(target):\(server.port)/echo")
            let url = "http://127.0.0.1:\(server.port)/redirect?to=\(place)"
            let found = try await code(url, redirects: 3, except: [exception])
            #expect(found == .forbiddenAddress, "\(target)")
        }
    }

    @Test func `a public-only mail client checks addresses in the same way`() async throws {
        let server = try ChildServer("smtp_server.py")
        var relay = SMTPServer(host: "localhost", port: server.port, security: .none)
        relay.destinations = .publicOnly()
        let client = try SMTPClient(relay)
        await #expect(throws: SMTPFailure(.temporary, .unreachable, "")) {
            try await client.send(from: "a@b.example", to: "c@d.example", message: [0x0D, 0x0A])
        }
    }
}
