import SecurityKeys

@testable import SecurityKeysTesting

/// What can be wrong with client data, for both ceremonies (SECURITY.md 2.8, Resp-2 F1 to F17).
enum ClientDataCases {
    static func all(for ceremony: Draft.Ceremony) -> [Wrong] {
        let other = ceremony == .create ? "webauthn.get" : "webauthn.create"
        return texts + bindings + [
            Wrong("the other ceremony", .otherCeremony) {
                $0.setClientData("type", "\"\(other)\"")
            },
            Wrong("no ceremony", .otherCeremony) { $0.setClientData("type", "\"webauthn\"") },
            Wrong("challenge with padding", .clientDataMember(.challenge, .malformed)) {
                $0.setClientData("challenge", "\"AAA=\"")
            },
            Wrong("challenge in plain words", .clientDataMember(.challenge, .malformed)) {
                $0.setClientData("challenge", "\"a challenge\"")
            },
            Wrong("another challenge", .otherChallenge) {
                $0.setClientData("challenge", "\"AAAA\"")
            },
            Wrong("crossOrigin not a truth", .clientDataMember(.crossOrigin, .wrongType)) {
                $0.setClientData("crossOrigin", "\"false\"")
            },
            Wrong("crossOrigin null", .clientDataMember(.crossOrigin, .wrongType)) {
                $0.setClientData("crossOrigin", "null")
            },
            Wrong("in a frame of others", .crossOrigin) {
                $0.setClientData("crossOrigin", "true")
            },
            Wrong("in a frame that names itself", .otherTopOrigin) {
                $0.setClientData("topOrigin", "\"https://login.example.org\"")
            },
        ] + origins + shapes
    }

    /// Each of the three texts: missing, not a string, empty.
    private static let texts: [Wrong] =
        [WebAuthnFailure.ClientDataMember.type, .challenge, .origin].flatMap { member in
            [
                Wrong("\(member) missing", .clientDataMember(member, .missing)) {
                    $0.setClientData(member.rawValue, nil)
                },
                Wrong("\(member) not a string", .clientDataMember(member, .wrongType)) {
                    $0.setClientData(member.rawValue, "[\"x\"]")
                },
                Wrong("\(member) empty", .clientDataMember(member, .empty)) {
                    $0.setClientData(member.rawValue, "\"\"")
                },
                Wrong("\(member) twice", .clientDataMalformed) {
                    guard let first = $0.clientData.first(where: { $0.0 == member.rawValue })
                    else { return }
                    $0.clientData.append(first)
                },
            ]
        }

    /// The right one is https://login.example.org.
    private static let origins: [Wrong] = [
        "https://example.org", "http://login.example.org", "https://login.example.org:8443",
        "https://login.example.org/", "https://login.example.org.evil.example",
        "https://evil.login.example.org", "https://LOGIN.example.org", "login.example.org", "null",
        "https://login.example.org:443", "https://login.example.org\\u0000",
    ].map { origin in
        Wrong("origin \(origin)", .otherOrigin) { $0.setClientData("origin", "\"\(origin)\"") }
    }

    private static let bindings: [Wrong] = [
        Wrong("token binding not an object", .clientDataMember(.tokenBinding, .wrongType)) {
            $0.setClientData("tokenBinding", "\"supported\"")
        },
        Wrong("token binding null", .clientDataMember(.tokenBinding, .wrongType)) {
            $0.setClientData("tokenBinding", "null")
        },
        Wrong("token binding without status", .clientDataMember(.tokenBinding, .missing)) {
            $0.setClientData("tokenBinding", "{}")
        },
        Wrong("token binding with a bad status", .clientDataMember(.tokenBinding, .malformed)) {
            $0.setClientData("tokenBinding", "{\"status\":\"absent\"}")
        },
    ]

    private static let shapes: [Wrong] =
        [
            "", "[]", "null", "{", "{}x", "{\"type\"}", "{\"type\":}", "{\"a\":01}", "{\"a\":1.}",
            "{\"a\":\"\u{1}\"}", "{\"a\":tru}", "{\"a\":[1,]}", "{,}", "{\"a\":1,}", "{a:1}",
            "{\"a\":--1}", "{\"a\":1e}", "{\"a\":\"\\\"}", "{\"type\":\"\\ud800\"}",
            String(repeating: "[", count: 9_000), "{\"a\":" + String(repeating: "[", count: 9_000),
        ].map { text in
            Wrong(
                "client data \(text.prefix(20))",
                text.isEmpty ? .credentialMember(.clientDataJSON, .empty) : .clientDataMalformed
            ) { $0.clientDataText = Array(text.utf8) }
        } + [
            Wrong("client data of many bytes", .credentialMember(.clientDataJSON, .tooLong)) {
                $0.setClientData("x", "\"" + String(repeating: "x", count: 16_384) + "\"")
            }
        ]
}
