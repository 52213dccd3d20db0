import JSON
import Testing
import YAML

@Suite struct `A configuration in YAML` {
    @Test func `maps, lists and scalars are read as the JSON that they stand for`() throws {
        let text = """
            # A comment.
            realms:
              acme:
                settings: {registration: off, otp_lifetime: 300}
                hosts:
                  - id.acme.example
                  - "quoted: text"
                clients:
                  web:
                    client_name: 'It''s ours'
                    enabled: true
                    logo_uri: ~
                    text: |
                      two
                      lines
            """
        let read = try YAMLDocument(Array(text.utf8)).value
        #expect(
            read == [
                "realms": [
                    "acme": [
                        "settings": ["registration": "off", "otp_lifetime": 300],
                        "hosts": ["id.acme.example", "quoted: text"],
                        "clients": [
                            "web": [
                                "client_name": "It's ours", "enabled": true, "logo_uri": .null,
                                "text": "two\nlines",
                            ]
                        ],
                    ]
                ]
            ])
    }

    @Test func `JSON is read as YAML, and each value has its line`() throws {
        let text = "{\n  \"realms\": {\n    \"acme\":\n {\"hosts\":[\"a\\u00e9\",\n\"b\"]}}}"
        let document = try YAMLDocument(Array(text.utf8))
        #expect(document.value == ["realms": ["acme": ["hosts": ["aé", "b"]]]])
        #expect(document.line(of: "realms") == 2)
        #expect(document.line(of: "realms/acme") == 3)
        #expect(document.line(of: "realms/acme/hosts/1") == 5)
        #expect(document.line(of: "realms/acme/hosts/7/x") == 4)
    }

    @Test func `two escapes of JSON are one character, and are none in YAML`() throws {
        let json = #"{"\ud83d\ude42": "\\ud83d \ud83d\ude42\n"}"#
        let read = try YAMLDocument(Array(json.utf8)).value
        #expect(read == ["🙂": .string(#"\ud83d 🙂"# + "\n")])
        let yaml = #"a: '\ud83d\ude42'"#
        #expect(try YAMLDocument(Array(yaml.utf8)).value == ["a": .string(#"\ud83d\ude42"#)])
    }

    @Test(arguments: [
        ("a: 1\nb: 2\na: 3", "`a` stands here a second time at line 3"),
        ("a: &x 1\nb: *x", "an anchor (&) is not read here: write the value out at line 1"),
        ("a: !!str 1", "a tag (!) is not read here: put a text in quotes at line 1"),
        ("a:\n  <<: {b: 1}", "a merge key (<<) is not read here: write the members out at line 2"),
        ("a: 1\n---\nb: 2", "a second document begins (---): a file has one at line 2"),
        (
            "a: 1.5",
            "a number must be whole and without leading zeros: put a text in quotes at line 1"
        ),
        (
            "a: 007",
            "a number must be whole and without leading zeros: put a text in quotes at line 1"
        ),
        ("? [a]\n: b", "a name must be a text at line 1"),
        ("a: \"x\\0y\"", "a text has a null character at line 1"),
        ("", "the file is empty at line 1"),
    ])
    func `what has several readings is refused with its line`(text: String, sentence: String) {
        #expect(throws: YAMLError.self) { try YAMLDocument(Array(text.utf8)) }
        do {
            _ = try YAMLDocument(Array(text.utf8))
        } catch {
            #expect(error.description == sentence)
        }
    }

    @Test(arguments: ["a: [1, 2", "a: 'x", "\tx: 1\n  y", "a: b: c", "\u{1}", "{a: 1", "- a\nb"])
    func `what is no YAML is refused with a line`(text: String) {
        do {
            _ = try YAMLDocument(Array(text.utf8))
            Issue.record("It was read.")
        } catch {
            #expect(error.line > 0, "\(error)")
        }
    }

    @Test func `bytes that are no text are refused`() {
        #expect(throws: YAMLError.self) { try YAMLDocument([0x61, 0x3A, 0x20, 0xFF, 0xFE]) }
    }

    @Test func `what is too deep, too long or too much is refused soon`() {
        let deep = String(repeating: "[", count: 100_000)
        #expect(throws: YAMLError.self) { try YAMLDocument(Array(deep.utf8)) }
        let long = [UInt8](repeating: 0x23, count: YAMLDocument.mostBytes + 1)
        #expect(throws: YAMLError.self) { try YAMLDocument(long) }
        let many = "a: [" + String(repeating: "1,", count: 60_000) + "1]"
        #expect(throws: YAMLError.self) { try YAMLDocument(Array(many.utf8)) }
    }

    @Test func `a bomb of aliases is refused at its first anchor`() {
        var text = "a: &a [x,x,x,x,x,x,x,x,x]\n"
        for name in "bcdefghi" {
            text += "\(name): &\(name) [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
        }
        do {
            _ = try YAMLDocument(Array(text.utf8))
            Issue.record("It was read.")
        } catch {
            #expect(error.line == 1)
        }
    }
}
