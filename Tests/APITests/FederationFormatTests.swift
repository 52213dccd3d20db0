import HTTP
import JSON
import Testing
import Values

@testable import API

@Suite struct `Formats of the federation profile` {
    private func header(_ time: String, _ more: String = "") -> RequestMAC? {
        RequestMAC("kid=AbCdEfGhIj,ts=\(time),mac=AAAA\(more)")
    }

    @Test(arguments: [
        ("1790000000", 1_790_000_000_000_000), ("1790000000.25", 1_790_000_000_250_000),
        ("1790000000250", 1_790_000_000_250_000), ("1790000000250001", 1_790_000_000_250_001),
    ])
    func `a MAC's number is its time in microseconds`(text: String, sequence: Int64) throws {
        #expect(try #require(header(text)).sequence == sequence)
    }

    @Test(arguments: [
        "", "-1", "1e9", "1790000000.", ".5", "1.2.3", "17900000002500010", "1790000000.1234567",
    ])
    func `a MAC without a readable time has no number`(text: String) {
        #expect(header(text)?.sequence == nil)
    }

    @Test func `a MAC that names something twice is no MAC`() {
        #expect(header("1", ",ts=2") == nil)
        #expect(RequestMAC("kid=a,mac=AAAA") == nil)
        #expect(RequestMAC("kid=\"a\", ts=\"1\", mac=\"AAAA\"")?.keyID == "a")
    }

    @Test(arguments: [
        ("notes", "https://a.example/x/y", "https://a.example/x/notes"),
        ("/notes", "https://a.example/x/y", "https://a.example/notes"),
        ("../notes?q=1", "https://a.example/x/y/z", "https://a.example/x/notes?q=1"),
        ("../../../notes", "https://a.example/x/y", "https://a.example/notes"),
        ("./", "https://a.example/x/y", "https://a.example/x/"),
        ("notes", "https://a.example", "https://a.example/notes"),
        ("//b.example/n", "https://a.example/x", "https://b.example/n"),
        ("https://b.example/n", "https://a.example/x", "https://b.example/n"),
        ("?q", "https://a.example/x", "https://a.example/x?q"),
    ])
    func `a relative link is resolved by the one above it`(
        link: String, base: String, whole: String
    ) {
        #expect(LinkResolution.resolve(link, from: base) == whole)
    }

    @Test(arguments: ["javascript:alert(1)", "data:text/html,x", "mailto:a@b.example"])
    func `a link of another scheme leads nowhere`(link: String) {
        #expect(LinkResolution.resolve(link, from: "https://a.example/") == nil)
    }

    @Test(arguments: [
        ("https://a.example", ["https://a.example/services.txt"]),
        ("https://a.example/", ["https://a.example/services.txt"]),
        (
            "https://a.example/moodle/",
            ["https://a.example/moodle/services.txt", "https://a.example/services.txt"]
        ),
        (
            "https://a.example/moodle?x=/y#z",
            ["https://a.example/moodle/services.txt", "https://a.example/services.txt"]
        ),
    ])
    func `services.txt is asked for below the address, then at the host`(
        host: String, lists: [String]
    ) {
        #expect(ServiceCrawler.lists(of: host) == lists)
    }

    @Test func `services.txt names a document and how long it is good`() {
        let text = "# ours\r\ntext/html; /\r\napplication/x-rsd+json; /rsd.json\r\nttl: 600\r\n"
        #expect(ServicesText(text)?.link == "/rsd.json")
        #expect(ServicesText(text)?.lifetime == 600)
        #expect(ServicesText("application/x-rsd+json;") == nil)
        #expect(ServicesText("nothing") == nil)
    }
}
