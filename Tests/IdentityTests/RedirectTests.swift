import Identity
import JSON
import LogTesting
import Testing

@Suite struct `A redirect URI` {
    private func fault(_ uri: String, _ more: JSONObject = [:]) -> FieldFault? {
        do throws(FieldFault) {
            let members: JSONObject = ["redirect_uris": [.string(uri)]]
            _ = try ClientMetadata(members.merging(more) { $1 })
            return nil
        } catch {
            return error
        }
    }

    @Test(
        arguments: [
            "https://a.example", "https://a.example/", "https://a.example:8443/back?x=1&y=%20",
            "HTTPS://A.example/b", "https://[2001:db8::1]/b", "https://a.example/b/",
            "http://localhost/b", "http://localhost:3000/b", "http://127.0.0.1/b",
            "http://127.0.0.1:49152/b", "http://[::1]:8080/b", "org.example.app:/back",
            "org.example.app://back", "org.example.app:back", "https://a.example/...",
            "https://a.example/b;c=d", "https://xn--bcher-kva.example/b",
            "https://192.0.2.7/b", "https://my_app.a-b.example/b", "https://a.example/%20%7e%c3%bc",
            "https://a1.2b.example/b", "https://localhost/b",
        ])
    func `a redirect URI of a valid form is accepted`(uri: String) {
        #expect(fault(uri) == nil)
    }

    @Test
    func `VOO-03: a redirect URI of an app in the field has any scheme that browsers do not run`() {
        for uri in ["lowco://login_callback", "myapp.scheme.demo://code_callback"] {
            #expect(fault(uri, ["profile": "voo"]) == nil, "\(uri)")
        }
        for uri in ["javascript://x", "data://x", "lowco://a#b", "http://a.example/"] {
            #expect(fault(uri, ["profile": "voo"]) != nil, "\(uri)")
        }
        #expect(fault("lowco://login_callback")?.reason == .unsafeScheme)
    }

    @Test(
        arguments: [
            ("", .malformed), ("/back", .malformed), ("back", .malformed),
            ("//a.example/b", .malformed), ("https:", .malformed), ("https:/a.example", .malformed),
            ("https:a.example", .malformed), ("https://", .malformed), ("https:///b", .malformed),
            ("https://a.example\\@b.example", .malformed), ("https://a b.example", .malformed),
            ("https://a.example/ b", .malformed), ("https://a.example/\n", .malformed),
            ("https://bücher.example", .malformed), ("https://a.example/ü", .malformed),
            ("https://a.example/%", .malformed), ("https://a.example/%2", .malformed),
            ("https://a.example/%zz", .malformed), ("https://*.example/b", .malformed),
            ("https://a.example:", .malformed), ("https://a.example:0", .malformed),
            ("https://a.example:x", .malformed), ("https://a.example:65536", .malformed),
            ("https://a.example:443:1", .malformed), ("https://[::1", .malformed),
            ("https://[]", .malformed), ("https://[zz]", .malformed),
            ("https://a.example/../b", .malformed), ("https://a.example/./b", .malformed),
            ("https://a.example/%2E%2e/b", .malformed), ("https://a.example/b/.%2e", .malformed),
            ("https://a.example/<b>", .malformed), ("https://a.example/\"", .malformed),
            ("org.example.app:", .malformed), ("1org.example:/b", .malformed),
            ("https://a.example/#", .hasFragment), ("https://a.example/b#c", .hasFragment),
            ("https://a.example/b#c#d", .malformed), ("org.example.app:/b#c", .hasFragment),
            ("https://user@a.example", .hasUserInfo), ("https://u:p@a.example/b", .hasUserInfo),
            ("https://a.example@b.example", .hasUserInfo),
            ("http://localhost@b.example", .hasUserInfo),
            ("org.example.app://u@b", .hasUserInfo),
            ("http://a.example/b", .unsafeScheme), ("http://localhost.example/b", .unsafeScheme),
            ("http://127.0.0.1.example/b", .unsafeScheme), ("http://127.0.0.2/b", .unsafeScheme),
            ("http://0.0.0.0/b", .unsafeScheme), ("javascript:alert(1)", .unsafeScheme),
            ("JavaScript:alert(1)", .unsafeScheme), ("data:text/html,x", .unsafeScheme),
            ("vbscript:x", .unsafeScheme), ("file:///etc/passwd", .malformed),
            ("file:/etc/passwd", .unsafeScheme),
            ("cozy://back", .unsafeScheme), ("urn:ietf:wg:oauth:2.0:oob", .unsafeScheme),
            ("https://a.example/%0d", .hasControl), ("https://a.example/%0D%0aX", .hasControl),
            ("https://a.example/?a=%00", .hasControl), ("https://a.example/%1f", .hasControl),
            ("https://a.example/%7F", .hasControl), ("http://127.0.0.1/%0a", .hasControl),
            ("org.example.app:/%0d", .hasControl),
            ("https://xn--/", .impossibleHost), ("https://xn--a/", .impossibleHost),
            ("https://xn--bcher-kva-/", .impossibleHost),
            ("https://a.xn--99999999/", .impossibleHost),
            ("https://a..example/", .impossibleHost), ("https://.example/", .impossibleHost),
            ("https://a.example./", .impossibleHost), ("https://a~b.example/", .impossibleHost),
            ("https://1.2/", .impossibleHost), ("https://127.1/", .impossibleHost),
            ("https://0x7f.1/", .impossibleHost), ("https://a.0x7f/", .impossibleHost),
            ("https://1.2.3.256/", .impossibleHost), ("https://01.2.3.4/", .impossibleHost),
            ("https://\(String(repeating: "a", count: 64)).example/", .impossibleHost),
            ("ftp://a.example/b", .unsafeScheme), ("blob:https://a.example/b", .unsafeScheme),
        ] as [(String, FieldFault.Reason)])
    func `a redirect URI of any other form is refused`(uri: String, reason: FieldFault.Reason) {
        #expect(fault(uri) == FieldFault("redirect_uris", reason, at: 0))
    }

    @Test func `a redirect URI has a bounded length`() {
        let long = "https://a.example/" + String(repeating: "a", count: 1_982)
        #expect(fault(long) == nil)
        #expect(fault(long + "a") == FieldFault("redirect_uris", .tooLong(limit: 2_000), at: 0))
    }
}

@Suite struct `Any text as a URI, a host or a name` {
    /// Characters that the parsers look for, and some that they must not meet.
    private let alphabet = Array(":/?#[]@%.-0aAz:/\\ \n\u{e9}\u{1F600}*")

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `any text as a URI, a host or a name is judged without a crash`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var judged = 0
        for _ in 0..<20_000 {
            let length = Int.random(in: 0...24, using: &random)
            var text = Bool.random(using: &random) ? "https://" : ""
            for _ in 0..<length { text.append(alphabet.randomElement(using: &random) ?? "a") }
            let metadata: JSONObject = [
                "redirect_uris": [.string(text)], "client_name": .string(text),
                "scope": .string(text), "client_uri": .string(text),
            ]
            if (try? ClientMetadata(metadata)) != nil { judged += 1 }
            if HostName(text) != nil { judged += 1 }
        }
        #expect(judged < 20_000)
    }
}

@Suite struct `An answer` {
    private let registered = [
        "https://a.example/back?x=1", "http://127.0.0.1/back", "http://[::1]:8080/six",
        "http://localhost:3000/back", "org.example.app:/back",
    ]

    @Test(arguments: [
        "https://a.example/back?x=1", "http://127.0.0.1/back", "http://127.0.0.1:1/back",
        "http://127.0.0.1:65535/back", "http://[::1]/six", "http://[::1]:9/six",
        "http://localhost:3000/back", "org.example.app:/back",
    ])
    func `an authorization response goes to a registered URI, at any port of a loopback address`(
        uri: String
    ) {
        #expect(RedirectRule.leads(uri, to: registered))
    }

    @Test(arguments: [
        "", "https://a.example/back", "https://a.example/back?x=1&y=2",
        "https://a.example/back?x=2",
        "https://a.example:443/back?x=1", "https://A.example/back?x=1",
        "https://a.example/back?x=1#", "https://a.example.evil.example/back?x=1",
        "http://127.0.0.1:0/back", "http://127.0.0.1:65536/back", "http://127.0.0.1:/back",
        "http://127.0.0.1:1:2/back", "http://127.0.0.1.evil.example/back",
        "http://127.0.0.1:1@evil.example/back", "http://127.0.0.1/back/", "http://127.0.0.1/Back",
        "http://127.0.0.1/back?x", "http://127.0.0.2/back", "https://127.0.0.1/back",
        "http://[::1]:9/back", "http://[::2]/six", "http://localhost/back",
        "http://localhost:3001/back", "org.example.app:/back/", "org.example.app://back",
        "org.example.other:/back",
    ])
    func `an authorization response to an unregistered URI is refused`(uri: String) {
        #expect(!RedirectRule.leads(uri, to: registered))
    }
}
