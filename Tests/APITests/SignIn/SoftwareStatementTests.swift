import EventSourcing
import HTTP
import Identity
import JOSE
import JSON
import Testing
import Values

@testable import API

private let plain: JSONObject = [
    "client_name": "Mine", "redirect_uris": ["https://mine.example/back"],
]

@Suite struct `A software statement` {
    private let maker = "https://maker.example"

    private func statement(
        _ claims: JSONObject = [:], by key: SigningKey
    ) throws -> String {
        let all: JSONObject = ["iss": .string(maker), "client_name": "Maker's"]
        return try JWS.sign(
            JSON.object(all.merging(claims) { $1 }).canonical(), by: key, type: "JWT")
    }

    @Test func `a software statement is accepted of trusted issuers`() async throws {
        let key = try SigningKey.pooled(.es256)
        let world = try await SignInWorld([
            "client_registration": "software_statement",
            "software_statement_issuers": [
                maker: ["jwks": KeySet([key.verificationKey]).document]
            ],
        ])
        let text = try statement(by: key)
        let made = try await world.registerItself(["software_statement": .string(text)])
        #expect(made.status.code == 201 && made.json["client_name"] == "Maker's")
        #expect(made.json["software_statement"]?.string == text)
        #expect(try await world.registerItself().json["error"] == "invalid_software_statement")
        let stranger = try SigningKey.pooled(.es256, id: key.id)
        for (claims, signer, code) in [
            (["iss": "https://other.example"], key, "unapproved_software_statement"),
            ([:], stranger, "invalid_software_statement"),
            (["exp": 1], key, "invalid_software_statement"),
            (["nbf": 9_999_999_999], key, "invalid_software_statement"),
            (["iss": .null], key, "invalid_software_statement"),
        ] as [(JSONObject, SigningKey, String)] {
            let answer = try await world.registerItself([
                "software_statement": .string(try statement(claims, by: signer))
            ])
            #expect(answer.json["error"]?.string == code)
        }
    }

    private func world(_ posture: String, _ key: SigningKey) async throws -> SignInWorld {
        try await SignInWorld([
            "client_registration": .string(posture),
            "software_statement_issuers": [
                maker: ["jwks": KeySet([key.verificationKey]).document]
            ],
        ])
    }

    @Test(arguments: ["open", "software_statement"])
    func `a software statement is needed again at each change of the registration`(
        posture: String
    ) async throws {
        let key = try SigningKey.pooled(.es256)
        let world = try await world(posture, key)
        let text = try statement(
            ["redirect_uris": ["https://maker.example/back"], "software_id": "s-1"], by: key)
        let evil: JSONObject = [
            "redirect_uris": ["https://evil.example/back"], "client_name": "Mine",
        ]
        let made = try await world.registerItself(
            evil.merging(["software_statement": .string(text)]) { $1 })
        #expect(made.status.code == 201)
        #expect(made.json["redirect_uris"] == ["https://maker.example/back"])
        let token = try #require(made.json["registration_access_token"]?.string)
        let path = "/connect/register/\(made.json["client_id"]?.string ?? "")"
        let read = try await world.call(.get, path, bearer: token)
        #expect(read.json["software_statement"]?.string == text)
        #expect(read.json["software_id"] == "s-1")
        func put(_ more: JSONObject) async throws -> Answered {
            var members = evil
            members["client_id"] = made.json["client_id"]
            return try await world.call(
                .put, path, bearer: token, .object(members.merging(more) { $1 }))
        }
        let stranger = try SigningKey.pooled(.es256, id: key.id)
        let before = try await world.events()
        for (said, code) in [
            (nil, "invalid_software_statement"), (.null, "invalid_software_statement"),
            ("garbage", "invalid_software_statement"), (1, "invalid_software_statement"),
            (.string(try statement(by: stranger)), "invalid_software_statement"),
            (.string(try statement(["exp": 1], by: key)), "invalid_software_statement"),
            (
                .string(try statement(["iss": "https://other.example"], by: key)),
                "unapproved_software_statement"
            ),
        ] as [(JSON?, String)] {
            let answer = try await put(said.map { ["software_statement": $0] } ?? [:])
            #expect(answer.status == .badRequest && answer.json["error"]?.string == code)
        }
        #expect(try await world.events() == before)
        // What it was told it may send back.
        var told = read.json.object ?? [:]
        for name in [
            "registration_access_token", "registration_client_uri", "client_id_issued_at",
        ] { told[name] = nil }
        let same = try await world.call(.put, path, bearer: token, .object(told))
        #expect(same.status == .ok && same.json["software_statement"]?.string == text)
        let next = try statement(["client_name": "Newer"], by: key)
        let changed = try await put(["software_statement": .string(next)])
        #expect(changed.status == .ok && changed.json["client_name"] == "Newer")
        #expect(changed.json["software_statement"]?.string == next)
        // The realm believes nobody any more.
        world.directory.add(
            world.realm, hosts: ["id.acme.example"], ["client_registration": .string(posture)])
        let late = try await put(["software_statement": .string(next)])
        #expect(late.json["error"] == "unapproved_software_statement")
    }

    @Test func `a software statement that is invalid is refused also where none is needed`()
        async throws
    {
        let key = try SigningKey.pooled(.es256)
        let world = try await world("open", key)
        let made = try await world.registerItself()
        let token = try #require(made.json["registration_access_token"]?.string)
        let path = "/connect/register/\(made.json["client_id"]?.string ?? "")"
        var members = plain
        members["client_id"] = made.json["client_id"]
        members["software_statement"] = "garbage"
        let refused = try await world.call(.put, path, bearer: token, .object(members))
        #expect(refused.json["error"] == "invalid_software_statement")
        members["software_statement"] = .string(try statement(by: key))
        let changed = try await world.call(.put, path, bearer: token, .object(members))
        #expect(changed.json["client_name"] == "Maker's")
        members["software_statement"] = nil
        let again = try await world.call(.put, path, bearer: token, .object(members))
        #expect(again.json["error"] == "invalid_software_statement")
    }

    @Test func `a software statement with an audience must name this server`() async throws {
        let key = try SigningKey.pooled(.es256)
        let world = try await world("software_statement", key)
        let (own, other): (JSON, JSON) = ("http://id.acme.example", "https://other-as.example")
        for (audience, status) in [
            (own, 201), ([other, own], 201), (other, 400), ([other], 400), ("", 400), ([], 400),
            (1, 400), (.null, 400), ("http://id.acme.example/", 400),
        ] as [(JSON, Int)] {
            let text = try statement(["aud": audience], by: key)
            let answer = try await world.registerItself(["software_statement": .string(text)])
            #expect(answer.status.code == status, "\(audience)")
            guard status == 400 else { continue }
            #expect(answer.json["error"] == "invalid_software_statement", "\(audience)")
        }
    }

    @Test func `a software statement gives no right that a registration could not have`()
        async throws
    {
        let key = try SigningKey.pooled(.es256)
        let world = try await world("software_statement", key)
        let grants = try statement(["grant_types": ["client_credentials"]], by: key)
        let refused = try await world.registerItself(["software_statement": .string(grants)])
        #expect(refused.json["error"] == "invalid_client_metadata")
        let scope = try statement(["scope": "openid invite:write"], by: key)
        let made = try await world.registerItself(["software_statement": .string(scope)])
        #expect(made.status == .created && made.json["scope"] == "openid")
    }

    @Test func `a software statement is verified under its issuer's published keys`() async throws {
        let key = try SigningKey.pooled(.rs256)
        let document = KeySet([key.verificationKey]).document.canonical()
        let world = try await SignInWorld(
            [
                "client_registration": "software_statement",
                "software_statement_issuers": [maker: ["jwks_uri": "https://maker.example/keys"]],
            ],
            fetchKeys: { $0 == "https://maker.example/keys" ? document : nil })
        let made = try await world.registerItself([
            "software_statement": .string(try statement(by: key))
        ])
        #expect(made.status.code == 201)
    }
}
