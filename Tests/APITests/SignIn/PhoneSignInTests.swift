import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

private let offered: JSONObject = [
    "registration": "jit_on_otp", "phone_sign_in": true, "phone_countries": ["CH", "US"],
]

@Suite struct `Signing in by a phone number` {
    private func world(_ more: JSONObject = [:]) async throws -> SignInWorld {
        try await SignInWorld(offered.merging(more) { $1 })
    }

    private func redeem(_ world: SignInWorld, _ name: String, _ code: String) async throws
        -> Answered
    {
        try await world.post(
            "/connect/token",
            form: [
                ("grant_type", "urn:cocoar:otp"), ("client_id", "phone"), ("username", name),
                ("otp_code", code), ("scope", "openid email"),
            ])
    }

    @Test
    func
        `a code that went to a phone makes an account, and signs in to it however the number is written`()
        async throws
    {
        let world = try await world()
        #expect(try await world.requestCode(["Phone": "+41 78 123 45 67"]).status == .ok)
        let letter = try await world.lastLetter(["display_name": "Acme"], for: "otp.issued")
        let code = try await world.mailedCode()
        #expect(letter.channel == .sms && letter.to == "+41781234567" && letter.code == code)
        #expect(letter.text.hasPrefix("\(code) is your code for Acme. It expires in 10 minutes."))
        #expect(letter.text.utf8.count <= 160 && letter.html.isEmpty && letter.subject.isEmpty)
        let first = try await redeem(world, "0041781234567", code)
        #expect(first.status == .ok)
        let access = try #require(first.json["access_token"]?.string)
        let who = try await world.userInfo(access).json
        #expect(who["email"] == nil && who["email_verified"] == nil)
        #expect(try await redeem(world, "+41781234567", code).json["error"] == "invalid_grant")
        // Of the first country where none is said.
        #expect(try await world.requestCode(["Phone": "078 123 45 67"]).status == .ok)
        let second = try await redeem(world, "078/123 45 67", try await world.mailedCode())
        let again = try #require(second.json["access_token"]?.string)
        #expect(try await world.userInfo(again).json["sub"] == who["sub"])
    }

    @Test func `a number stands nowhere in the open`() async throws {
        let world = try await world()
        _ = try await world.requestCode(["Phone": "+41 78 123 45 67"])
        _ = try await redeem(world, "+41781234567", try await world.mailedCode())
        for event in try await world.log.events(from: 1, limit: .max, in: world.realm) {
            let open = String(decoding: JSON.object(event.open).canonical(), as: UTF8.self)
            #expect(!open.contains("781234567"), "\(event.name)")
        }
    }

    @Test(arguments: [
        ("+41 900 123 456", "not the number of a mobile phone"),
        ("+41 44 668 18 00", "not the number of a mobile phone"),
        ("+41 800 123 456", "not the number of a mobile phone"),
        ("+49 1512 3456789", "messages are not sent to that country"),
        ("+999 123456", "no phone number"), ("ann", "no phone number"),
        ("+41 78 123 45", "no phone number"),
    ])
    func `numbers that cost more, or of other countries, are refused with the reason`(
        number: String, reason: String
    ) async throws {
        let world = try await world()
        let refused = try await world.requestCode(["Phone": .string(number)])
        #expect(refused.status == .badRequest)
        #expect(
            String(decoding: refused.response.body, as: UTF8.self).contains(reason), "\(number)")
        #expect(try await world.events().contains("otp.issued") == false)
    }

    @Test func `no number is taken where the realm does not say so`() async throws {
        for settings: JSONObject in [
            ["registration": "jit_on_otp"], offered.merging(["phone_sign_in": false]) { $1 },
            offered.merging(["phone_countries": []]) { $1 },
        ] {
            let world = try await SignInWorld(settings)
            #expect(try await world.requestCode(["Phone": "+41781234567"]).status == .badRequest)
            #expect(try await world.events().contains("otp.issued") == false)
        }
    }

    @Test func `a code for a number is none for a mail address, nor for another number`()
        async throws
    {
        let world = try await world()
        _ = try await world.requestCode(["Phone": "+41781234567"])
        let code = try await world.mailedCode()
        for name in ["ann@example.org", "+41781234568", "41781234567@example.org", "+12015550123"] {
            #expect(try await redeem(world, name, code).json["error"] == "invalid_grant")
        }
        #expect(try await redeem(world, "+41781234567", code).status == .ok)
    }

    @Test func `a phone gets few codes, and so do numbers that begin alike`() async throws {
        let world = try await world([
            "rate_limits": [
                "phone-code": ["source": .null],
                "phone-block": ["target": ["amount": 7, "seconds": 3600]],
            ]
        ])
        for _ in 0..<5 {
            #expect(try await world.requestCode(["Phone": "+41781234567"]).status == .ok)
        }
        let sixth = try await world.requestCode(["Phone": "+41781234567"])
        #expect(sixth.status == .tooManyRequests && sixth.json["policy"] == "phone-code")
        for number in ["+41781230001", "+41781239999"] {
            #expect(try await world.requestCode(["Phone": .string(number)]).status == .ok)
        }
        let eighth = try await world.requestCode(["Phone": "+41781235555"])
        #expect(eighth.status == .tooManyRequests && eighth.json["policy"] == "phone-block")
        #expect(try await world.requestCode(["Phone": "+41791235555"]).status == .ok)
        // Mails are counted apart.
        #expect(try await world.requestCode(["Email": "ann@example.org"]).status == .ok)
    }

    @Test func `codes go by the channel that the realm names first`() async throws {
        let world = try await world(["phone_channels": ["whatsapp", "sms"]])
        _ = try await world.requestCode(["Phone": "+41781234567"])
        let letter = try await world.lastLetter(
            ["phone_channels": ["whatsapp", "sms"]], for: "otp.issued")
        #expect(letter.channel == .whatsapp && letter.otherChannels == [.sms])
    }
}
