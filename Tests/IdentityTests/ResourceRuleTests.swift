import Identity
import JSON
import Testing

@testable import Identity

@Suite struct `A resource indicator` {
    @Test(
        arguments: [
            ("https://api.example/x", "HTTPS://API.Example/x"),
            ("https://api.example/x", "https://api.example:443/x"),
            ("http://api.example?q", "http://API.example:80?q"),
            ("https://A@b.example/", "https://A@B.example/"), ("urn:api", "URN:api"),
            ("https://[2001:DB8::1]/x", "https://[2001:db8::1]:443/x"),
        ])
    func `a resource is the same in any case of scheme and host, with the scheme's port or not`(
        one: String, other: String
    ) {
        #expect(ResourceRule.isSame(one, other) && ResourceRule.isSame(other, one))
        #expect(ResourceRule.find([other, one], in: ["https://z", one]) == [one])
    }

    @Test(
        arguments: [
            ("https://api.example/x", "https://api.example/X"),
            ("https://api.example/x", "https://api.example/x/"),
            ("https://api.example/x", "http://api.example/x"),
            ("https://api.example/x", "https://api.example:8443/x"),
            ("https://api.example", "https://api.example.evil"),
            ("https://api.example/x?Q", "https://api.example/x?q"), ("urn:api", "urn:API"),
            ("https://A@b.example/", "https://a@b.example/"),
            ("http://api.example:443/", "http://api.example/"),
        ])
    func `a resource is another one where anything else differs`(one: String, other: String) {
        #expect(!ResourceRule.isSame(one, other))
        #expect(ResourceRule.find([other], in: [one]) == nil)
    }

    @Test func `a resource is asked for as the list spells it, and once`() throws {
        let metadata = try ClientMetadata([
            "redirect_uris": ["https://web.example/back"], "resources": ["https://api.example/x"],
        ])
        let settings = Identity.Settings()
        #expect(
            metadata.spelled(
                ["https://API.example/x", "https://api.example/x", "https://other.example"],
                settings, from: nil) == ["https://api.example/x", "https://other.example"])
        #expect(metadata.mayAsk(for: "https://API.example:443/x", settings, from: nil))
        #expect(!metadata.mayAsk(for: "https://api.example/X", settings, from: nil))
    }
}
