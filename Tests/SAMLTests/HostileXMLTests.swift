import Glibc
import Testing
import Values

@testable import SAML

@Suite struct `Hostile XML` {
    private static let start = #"<Assertion xmlns="urn:oasis:names:tc:SAML:2.0:assertion""#

    private func refuse(
        _ text: String, _ reason: SAML.Rejection, location: SourceLocation = #_sourceLocation
    ) {
        #expect(throws: reason, sourceLocation: location) {
            try SAML.verify(
                Base64URL.encode(Array(text.utf8)),
                rules: SAML.Rules(issuers: [], audiences: [], recipients: []),
                at: Timestamp(seconds: 1_800_000_000))
        }
    }

    @Test func `entities that multiply are refused before they are read`() {
        var declared = #"<!ENTITY a0 "ha">"#
        for level in 1...30 {
            let before = String(repeating: "&a\(level - 1);", count: 10)
            declared += "<!ENTITY a\(level) \"\(before)\">"
        }
        let text = "<!DOCTYPE Assertion [\(declared)]>\(Self.start)>&a30;</Assertion>"
        let clock = ContinuousClock()
        let took = clock.measure { refuse(text, .documentType) }
        #expect(took < .seconds(5))
    }

    @Test(arguments: [
        "<!DOCTYPE Assertion>", "<!DOCTYPE Assertion []>",
        #"<!DOCTYPE Assertion SYSTEM "file:///etc/hostname">"#,
        #"<!DOCTYPE Assertion PUBLIC "p" "http://127.0.0.1:9/x.dtd">"#,
        #"<!DOCTYPE Assertion [<!ENTITY % x SYSTEM "http://127.0.0.1:9/x"> %x;]>"#,
        #"<!DOCTYPE Assertion [<!ATTLIST Assertion ID ID #IMPLIED>]>"#,
        #"<!DOCTYPE Assertion [<!ENTITY x "y">]>"#, "\u{FEFF}<!DOCTYPE Assertion>",
        #"<?xml version="1.0"?><!-- x --><!DOCTYPE Assertion>"#,
    ])
    func `a document with a type is refused`(type: String) {
        refuse(type + Self.start + "/>", .documentType)
    }

    @Test func `an entity from a file is refused, and nothing of the file is read`() {
        refuse(
            #"<!DOCTYPE Assertion [<!ENTITY x SYSTEM "file:///etc/hostname">]>"# + Self.start
                + ">&x;</Assertion>", .documentType)
    }

    @Test func `an entity from a web server is refused, and the server is not asked`() throws {
        let listener = try Listener()
        for declaration in [
            #"<!ENTITY x SYSTEM "http://127.0.0.1:\#(listener.port)/x">"#,
            #"<!ENTITY % x SYSTEM "http://127.0.0.1:\#(listener.port)/x"> %x;"#,
        ] {
            refuse(
                "<!DOCTYPE Assertion [\(declaration)]>\(Self.start)>&x;</Assertion>",
                .documentType)
        }
        refuse(
            #"<!DOCTYPE Assertion SYSTEM "http://127.0.0.1:\#(listener.port)/x">"# + Self.start
                + "/>", .documentType)
        #expect(!listener.wasAsked)
    }

    @Test(arguments: [
        "", " ", "x", "<", "<Assertion", "<Assertion>", "<Assertion/><Assertion/>", "<a:b/>",
        "<Assertion/>x", "<Assertion>&x;</Assertion>", "<Assertion>&#0;</Assertion>",
        "<Assertion>\u{1}</Assertion>", "<Assertion a='1' a='2'/>", "<Assertion a='<'/>",
        "<?xml version='1.0' encoding='UTF-16'?><Assertion></Assertio>", "{}",
        "<Assertion>&lt;!DOCTYPE", "<Assertion>]]></Assertion>",
    ])
    func `a text that is not well-formed is refused`(text: String) {
        refuse(text, .malformed)
    }

    @Test(arguments: [
        "<Assertion/>", "<Assertion xmlns='urn:oasis:names:tc:SAML:1.0:assertion'/>",
        "<EncryptedAssertion xmlns='urn:oasis:names:tc:SAML:2.0:assertion'/>",
        "<assertion xmlns='urn:oasis:names:tc:SAML:2.0:assertion'/>",
        "<Assertion xmlns='URN:oasis:names:tc:SAML:2.0:assertion'/>",
    ])
    func `a root that is no assertion is refused`(text: String) {
        refuse(text, .notAnAssertion)
    }

    @Test func `bytes that are not UTF-8 are refused, whatever they say of themselves`() {
        let text = #"<?xml version="1.0" encoding="ISO-8859-1"?><a>"#
        let bytes = Array(text.utf8) + [0xE9] + Array("</a>".utf8)
        #expect(throws: SAML.Rejection.notEncoded) {
            try SAML.claimedIssuer(in: Base64URL.encode(bytes))
        }
        // UTF-7 and EBCDIC have other bytes for the same signs.
        refuse(#"<?xml version="1.0" encoding="UTF-7"?><a>+ADw-b/></a>"#, .notAnAssertion)
        refuse(#"<?xml version="1.0" encoding="UTF-16"?><a/>"#, .notAnAssertion)
    }

    @Test func `a document that is too large, deep or wide is refused`() {
        let name = String(repeating: "a", count: XMLDocument.mostBytes)
        refuse("\(Self.start)>\(name)</Assertion>", .tooLarge)
        let deep = String(repeating: "<b>", count: 10_000)
        refuse("\(Self.start)>\(deep)", .tooLarge)
        let levels = String(repeating: "<b>", count: 31) + String(repeating: "</b>", count: 31)
        refuse("\(Self.start)>\(levels)</Assertion>", .wrongVersion)
        refuse("\(Self.start)><b>\(levels)</b></Assertion>", .tooLarge)
        refuse(
            "\(Self.start)>\(String(repeating: "<b/>", count: 2000))</Assertion>", .tooLarge)
        let attributes = (1...33).map { " a\($0)=''" }.joined()
        refuse("\(Self.start)\(attributes)/>", .tooLarge)
        let spaces = (1...33).map { " xmlns:a\($0)='u\($0)'" }.joined()
        refuse("\(Self.start)\(spaces)/>", .tooLarge)
        #expect(throws: SAML.Rejection.tooLarge) {
            try SAML.claimedIssuer(in: String(repeating: "A", count: SAML.longestText + 1))
        }
    }

    @Test func `a document's limit holds for what is parsed, too`() throws {
        let bytes = { (count: Int) in
            Array(("<a>" + String(repeating: "x", count: count - 7) + "</a>").utf8)
        }
        #expect(try XMLDocument(bytes(XMLDocument.mostBytes)).root.name == "a")
        #expect(throws: XMLDocument.Fault.tooLarge) {
            try XMLDocument(bytes(XMLDocument.mostBytes + 1))
        }
    }

    @Test func `a text is all of its pieces`() throws {
        let root = try XMLDocument(
            Array("<a b='&lt;1'>x<!-- y -->z<![CDATA[<]]><c/>&amp;</a>".utf8)
        )
        .root
        #expect(root.text == "xz<&")
        #expect(root["b"] == "<1")
        #expect(root.children.map(\.name) == ["c"])
    }

    @Test func `the worst documents of the allowed size are refused soon`() {
        let clock = ContinuousClock()
        let many = (1...8000).map { " a\($0)=''" }.joined().prefix(60_000)
        let spaces = (1...4000).map { " xmlns:a\($0)=''" }.joined().prefix(60_000)
        for text in [
            "\(Self.start)\(many)''/>", "\(Self.start)\(spaces)''/>",
            "\(Self.start)>" + String(repeating: "<b>", count: 20_000),
            "\(Self.start)>" + String(repeating: "&amp;", count: 12_000),
        ] {
            let took = clock.measure {
                #expect(throws: SAML.Rejection.self) {
                    try SAML.claimedIssuer(in: Base64URL.encode(Array(text.utf8)))
                }
            }
            #expect(took < .seconds(5))
        }
    }

    /// A listener on loopback that answers nobody.
    private final class Listener {
        private let socket: Int32
        let port: UInt16

        init() throws {
            socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let socket = socket
            let done = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    bind(socket, address, length) == 0 && listen(socket, 8) == 0
                        && getsockname(socket, address, &length) == 0
                }
            }
            try #require(done)
            port = UInt16(bigEndian: address.sin_port)
        }

        deinit { close(socket) }

        var wasAsked: Bool { accept(socket, nil, nil) >= 0 }
    }
}
