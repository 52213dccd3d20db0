import Testing

@testable import Identity

@Suite struct `Where tenants may have people sent` {
    @Test(arguments: [
        // Whole addresses, byte for byte.
        ("https://shop.example/back", "https://shop.example/back", true),
        ("https://shop.example/back", "https://shop.example/back?a=1", false),
        ("https://shop.example/back", "https://shop.example/other", false),
        // Origins.
        ("https://shop.example", "https://shop.example/back?a=1", true),
        ("https://shop.example/", "https://shop.example:443/back", true),
        ("https://shop.example", "https://SHOP.example/", true),
        ("https://shop.example", "https://shop.example:8443/", false),
        ("https://shop.example", "https://a.shop.example/", false),
        ("https://shop.example", "https://shop.example.evil.example/", false),
        ("https://shop.example", "http://shop.example/", false),
        // Schemes of apps, with and without slashes and hosts.
        ("shop://", "shop://", true), ("shop://", "shop://back/here?a=1", true),
        ("shop://", "shop:back", true), ("shop:", "shop://back", true),
        ("com.example.shop:", "com.example.shop:redirect_uri_path", true),
        ("shop://back", "shop://back/here", true), ("shop://back", "shop://backer", false),
        ("shop:back", "shop:backer", false), ("shop://", "shops://", false),
        // Everything that could be listed.
        ("*", "https://any.example/", true), ("*", "shop://", true),
        ("*", "http://any.example/", false),
    ])
    func `an entry covers the places that it names and refuses all others`(
        entry: String, url: String, isAllowed: Bool
    ) throws {
        try TenantPlace.check(entry)
        #expect((TenantPlace(url)?.isAllowed(by: [entry]) ?? false) == isAllowed)
    }

    @Test(arguments: [
        "http://localhost:8395", "http://localhost", "http://127.0.0.1:1/back", "http://[::1]:80/",
        "https://localhost/",
    ])
    func `the own machine is open without an entry`(url: String) throws {
        #expect(try #require(TenantPlace(url)).isAllowed(by: []))
    }

    @Test(arguments: [
        "", "shop", "://", "javascript:alert(1)", "JavaScript://%0aalert(1)", "data:text/html,x",
        "vbscript:x", "file:///etc/passwd", "blob:https://a.example/1", "about:blank",
        "http://shop.example/", "https://", "https:shop.example", "https://user@shop.example/",
        "http://localhost@evil.example/", "http://localhost.evil.example/", "shop://user@host/",
        "shop://*",
        "https://shop.example/#part", "https://shop.example\\@evil.example/", "shop://a b",
        "https://shop.example/%0d%0aSet-Cookie:x", "my_shop://", "1shop://", "shop!://",
        "https://shop.example/\"onload", "shop://<script>",
    ])
    func `what no browser should be sent to is refused whatever is listed`(url: String) {
        #expect(TenantPlace(url) == nil)
        #expect(throws: FieldFault.Reason.self) { try TenantPlace.check(url) }
    }

    @Test(arguments: [
        ("https://shop.example", "https://shop.example/back", true),
        ("https://shop.example", "*", true), ("https://shop.example", "shop://", false),
        ("https://shop.example:8443", "https://shop.example", false),
        ("http://localhost:3000", "shop://", true), ("null", "*", false),
        ("https://evil.example", "https://shop.example", false),
    ])
    func `pages of an origin are let in by any entry of that origin`(
        origin: String, entry: String, isAllowed: Bool
    ) {
        #expect((TenantPlace(origin)?.isAllowedOrigin(by: [entry]) ?? false) == isAllowed)
    }
}
