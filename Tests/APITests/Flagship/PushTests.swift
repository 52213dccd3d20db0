import EventSourcing
import HTTP
import Identity
import JOSE
import JSON
import Synchronization
import Testing
import Values

@testable import API

/// A device token as Apple gives it.
private let appleToken = String(repeating: "0a", count: 32)
private let otherAppleToken = String(repeating: "0b", count: 32)

@Suite struct `COZ-22 Delivering a notification` {
    private func id(_ app: TestInstallation) throws -> UUID {
        try #require(UUID(bytes: Hex.decode(app.id) ?? []))
    }

    /// Scenario 8 of the sheet.
    @Test
    func `COZ-22: a notification goes to the app itself, else to the flagship app, else by mail`()
        async throws
    {
        let notified = try await NotifiedWorld()
        let banks = try await notified.device("Banks", "firebase", "t-banks")
        let phone = try await notified.device("Phone", "apns", appleToken, isFlagship: true)
        try await notified.send()
        #expect(try await notified.deliver() == [.pushed(.dedicated, [try id(banks)])])
        #expect(notified.providers.taken.map(\.token) == ["t-banks"])
        // The app of its own is not reached.
        notified.providers.answer("t-banks", 403, ["error": ["status": "PERMISSION_DENIED"]])
        try await notified.send(["data": ["appName": "Banks"]])
        #expect(try await notified.deliver() == [.pushed(.flagship, [try id(phone)])])
        let shown = try #require(notified.providers.taken.last)
        #expect(shown.body["aps"]?["alert"]?["title"] == "Banks - Hello")
        // Nor is the other.
        notified.providers.answer(appleToken, 400, ["reason": "DeviceTokenNotForTopic"])
        try await notified.send(["data": ["appName": "Banks"]])
        #expect(try await notified.deliver() == [.refusedForGood(code: 400)])
        #expect(try await notified.world.happened("notification.mailed").count == 1)
        #expect(try await notified.deliver().isEmpty)
    }

    @Test func `COZ-22: a notification shows its app's name, unless the app declines`() async throws
    {
        let notified = try await NotifiedWorld()
        _ = try await notified.device("Phone", "apns", appleToken, isFlagship: true)
        func title(_ data: JSON) async throws -> JSON? {
            try await notified.send(["data": data])
            try await notified.deliver()
            return notified.providers.taken.last?.body["aps"]?["alert"]?["title"]
        }
        #expect(try await title(["appName": "Banks"]) == "Banks - Hello")
        #expect(try await title(["appName": ""]) == "Hello")
        // Whoever has neither a name nor a place in the registry says nothing of himself.
        #expect(try await title([:]) == "Hello")
        #expect(try await title(["appName": "A\r\nB\u{202E}"]) == "A B - Hello")
        var terms = NotificationTerms(
            source: .zero, account: .zero, originator: "app", sender: .zero, slug: "banks",
            category: "c", priority: .high, channels: [.mobile], isCollapsible: false,
            due: Timestamp(seconds: 0))
        let now = Timestamp(seconds: 1_800_000_000)
        func shown(_ members: JSONObject) -> String {
            PushMessage(.zero, terms, .init(title: "Hello", members: members), now: now)
                .amongOthers(terms).title
        }
        #expect(shown([:]) == "banks - Hello")
        #expect(shown(["appName": ""]) == "Hello")
        terms.slug = nil
        #expect(shown([:]) == "Hello")
    }

    @Test func `COZ-22: a notification goes to each device once, and to ten devices at most`()
        async throws
    {
        let notified = try await NotifiedWorld()
        for number in 1...12 { _ = try await notified.device("D\(number)", "ios", "t\(number)") }
        _ = try await notified.device("Again", "android", "t12")
        // Nobody let it in.
        _ = try await notified.world.registerDevice("Stranger", "firebase", "t-stranger", nil)
        _ = try await notified.device("Other", "huawei", "t-huawei")
        try await notified.send()
        try await notified.deliver()
        #expect(notified.providers.taken.map(\.token) == (3...12).reversed().map { "t\($0)" })
        #expect(notified.providers.tokenCalls == 1)
        let pushed = try #require(
            try await notified.world.happened("notification.pushed").first)
        #expect(pushed.open["clients"]?.array?.count == 10)
    }

    @Test func `COZ-22: a notification is mailed at once without a provider or on request`()
        async throws
    {
        let none = try await NotifiedWorld(hasProviders: false)
        _ = try await none.device("Phone", "firebase", "t1")
        _ = try await none.device("iPhone", "apns", appleToken, isFlagship: true)
        try await none.send()
        #expect(try await none.deliver() == [.refusedForGood(code: 0)])
        #expect(try await none.world.happened("notification.mailed").count == 1)
        let notified = try await NotifiedWorld()
        _ = try await notified.device("Phone", "firebase", "t1")
        for channels: JSON in [["mail"], ["sms"], ["mail", "mobile"]] {
            try await notified.send(["preferred_channels": channels])
        }
        #expect(
            try await notified.deliver()
                == Array(repeating: .refusedForGood(code: 0), count: 3))
        #expect(notified.providers.taken.isEmpty)
        for channels: JSON in [[], ["sms", "mobile"], ["mobile", "mail"]] {
            try await notified.send(["preferred_channels": channels])
        }
        try await notified.deliver()
        #expect(notified.providers.taken.count == 3)
    }

    @Test func `COZ-22: a notification has the form that each provider expects`() async throws {
        let notified = try await NotifiedWorld()
        _ = try await notified.device("Phone", "firebase", "t1")
        _ = try await notified.device("iPhone", "apns", appleToken)
        try await notified.send([
            "category": "news", "priority": "high",
            "data": [
                "redirectLink": "banks/#/", "count": 3, "from": "evil", "google.x": "y",
                "aps": ["badge": 9], "notification_id": "evil",
            ],
        ])
        try await notified.send(["title": "Plain"])
        try await notified.deliver()
        let taken = notified.providers.taken
        let id = try await notified.world.happened("notification.requested")[0]
        let collapse = try #require(id.open["source"]?.string)
        let android = try #require(taken.first { $0.token == "t1" }?.body["message"])
        #expect(android["notification"] == ["title": "Hello", "body": "World"])
        #expect(
            android["data"] == [
                "redirectLink": "banks/#/", "count": "3", "aps": #"{"badge":9}"#,
                "notification_id": .string(id.stream.description),
            ])
        #expect(
            android["android"] == [
                "priority": "HIGH", "ttl": "604800s", "collapse_key": .string(collapse),
                "notification": ["tag": .string(collapse)],
            ])
        #expect(
            android["apns"] == ["headers": ["apns-collapse-id": .string(collapse)]])
        let apple = try #require(taken.first { $0.token == appleToken })
        #expect(
            apple.body["aps"] == [
                "alert": ["title": "Hello", "body": "World"], "sound": "default",
            ])
        #expect(apple.body["redirectLink"] == "banks/#/" && apple.body["count"] == 3)
        #expect(apple.headers["apns-priority"] == "10")
        #expect(apple.headers["apns-collapse-id"] == collapse)
        #expect(Int64(apple.headers["apns-expiration"] ?? "") != nil)
        let plain = try #require(taken.last { $0.token == appleToken })
        #expect(plain.headers["apns-priority"] == "5")
        let lone = try await notified.world.happened("notification.requested")[1].stream.description
        #expect(plain.headers["apns-collapse-id"] == lone)
        #expect(
            taken.last { $0.token == "t1" }?.body["message"]?["android"]
                == [
                    "priority": "NORMAL", "ttl": "604800s", "notification": ["tag": .string(lone)],
                ])
    }

    @Test func `COZ-22: a notification repeated after a crash has the same id on the device`()
        async throws
    {
        let notified = try await NotifiedWorld()
        _ = try await notified.device("Phone", "firebase", "t1")
        _ = try await notified.device("iPhone", "apns", appleToken)
        try await notified.send()
        try await notified.send()
        let asked = try await notified.world.happened("notification.requested").map(\.stream)
        // As after a kill between the provider's yes and our record: the first goes out again.
        for id in [asked[0], asked[0], asked[1]] { _ = try await notified.attempt(id) }
        let apple = notified.providers.taken.filter { $0.token == appleToken }
        let names = apple.map { [$0.headers["apns-id"], $0.headers["apns-collapse-id"]] }
        #expect(names.count == 3)
        #expect(names[0] == names[1])
        #expect(names[0].allSatisfy { $0?.utf8.count == 36 })
        #expect(names[0][0] != names[2][0] && names[0][1] != names[2][1])
        let google = notified.providers.taken.filter { $0.token == "t1" }
        let tags = google.map { $0.body["message"]?["android"]?["notification"]?["tag"] }
        #expect(tags.count == 3 && tags[0] != nil)
        #expect(tags[0] == tags[1] && tags[0] != tags[2])
    }

    @Test func `COZ-22: a notification is cut to size and cannot break a line`() async throws {
        let notified = try await NotifiedWorld()
        _ = try await notified.device("Phone", "firebase", "t1")
        _ = try await notified.device("iPhone", "apns", appleToken)
        let wide = String(repeating: "😀\"", count: 1_000)
        try await notified.send([
            "category": "news", "category_id": "a\r\napns-priority: 1", "message": .string(wide),
            "title": "Hello\r\napns-topic: evil\u{202E}",
            "data": ["a": .string(String(repeating: "b", count: 1_900))],
        ])
        try await notified.deliver()
        #expect(notified.providers.taken.count == 2)
        for taken in notified.providers.taken {
            let alert = taken.body["message"]?["notification"] ?? taken.body["aps"]?["alert"]
            #expect(alert?["title"] == "Hello apns-topic: evil")
            #expect(alert?["body"]?.string?.hasSuffix("…") == true)
            #expect((3_900...4_096).contains(taken.size))
            #expect(taken.headers.values.allSatisfy { $0 != "evil" && !$0.contains("topic: evil") })
        }
    }

    @Test func `COZ-22: a push provider's token is renewed when it is refused or old`() async throws
    {
        let notified = try await NotifiedWorld()
        _ = try await notified.device("Phone", "firebase", "t1", isFlagship: true)
        notified.providers.refuseOldTokens()
        try await notified.send()
        try await notified.deliver()
        #expect(notified.providers.taken.count == 1)
        #expect(notified.providers.tokenCalls == 2)
        try await notified.send()
        try await notified.deliver()
        #expect(notified.providers.tokenCalls == 2)
        notified.world.world.clock.now.withLock { $0 += 3_600 * 1_000_000 }
        try await notified.send()
        try await notified.deliver()
        #expect(notified.providers.tokenCalls == 3)
        #expect(notified.providers.taken.count == 3)
    }
}

@Suite struct `COZ-22 A device that cannot be reached` {
    @Test func `COZ-22: a device that its push provider no longer knows is forgotten`() async throws
    {
        let notified = try await NotifiedWorld()
        let phone = try await notified.device("Phone", "firebase", "t1")
        let iPhone = try await notified.device("iPhone", "apns", appleToken)
        let other = try await notified.device("iPad", "apns", otherAppleToken)
        notified.providers.answer("t1", 404, PushStandIn.unregistered)
        notified.providers.answer(appleToken, 410, ["reason": "Unregistered", "timestamp": 1])
        notified.providers.answer(otherAppleToken, 400, ["reason": "BadDeviceToken"])
        try await notified.send()
        #expect(try await notified.deliver().count == 1)
        let gone = try await notified.world.send(
            .get, "/auth/register/\(phone.id)", bearer: phone.token)
        #expect(gone.json["error"] == "Client not found")
        for app in [iPhone, other] {
            let known = try await notified.world.send(
                .get, "/auth/register/\(app.id)", bearer: app.token)
            #expect(known.status == .ok)
            #expect(known.json["notification_device_token"] == nil)
        }
        // Nobody is asked of them again.
        notified.providers.answer(appleToken, 200)
        try await notified.send()
        try await notified.deliver()
        #expect(notified.providers.taken.isEmpty)
    }

    private static let answers: [(String, String, Int, JSON)] = [
        ("firebase", "t1", 404, ["error": ["status": "NOT_FOUND"]]),
        ("firebase", "t1", 403, ["error": ["details": [["errorCode": "SENDER_ID_MISMATCH"]]]]),
        ("firebase", "t1", 400, ["error": ["status": "INVALID_ARGUMENT"]]),
        ("firebase", "t1", 401, [:]), ("apns", appleToken, 410, [:]),
        ("apns", appleToken, 403, ["reason": "InvalidProviderToken"]),
        ("apns", appleToken, 413, ["reason": "PayloadTooLarge"]),
        ("apns", appleToken, 404, ["reason": "BadPath"]),
    ]

    @Test(arguments: answers)
    func `COZ-22: a device stays registered on other answers of its push provider`(
        _ platform: String, _ token: String, _ status: Int, _ body: JSON
    ) async throws {
        let notified = try await NotifiedWorld()
        let phone = try await notified.device("Phone", platform, token)
        notified.providers.answer(token, status, body)
        try await notified.send()
        #expect(try await notified.deliver() == [.refusedForGood(code: status)])
        let known = try await notified.world.send(
            .get, "/auth/register/\(phone.id)", bearer: phone.token)
        #expect(known.json["notification_device_token"] == .string(token))
    }

    @Test(arguments: [("firebase", "t1"), ("apns", appleToken)])
    func `COZ-22: a push provider that fails for now is asked again`(
        _ platform: String, _ token: String
    ) async throws {
        let notified = try await NotifiedWorld()
        _ = try await notified.device("Phone", platform, token)
        notified.providers.answer(token, 503, [:], after: 120)
        try await notified.send()
        #expect(try await notified.deliver() == [.refusedForNow(code: 503, pause: 120)])
        notified.providers.answer(token, .unreachable)
        #expect(try await notified.deliver() == [.refusedForNow(code: 0, pause: 0)])
        // An address that may not be called will not become another one.
        notified.providers.answer(token, .forbidden)
        #expect(try await notified.deliver() == [.refusedForGood(code: 0)])
        #expect(
            try await notified.world.happened("notification.deferred").map { $0.open["code"] }
                == [503, 0])
    }

    @Test(arguments: ["../../x", "0a0b/../..", "0a 0b", "zz", "0a?b=c"])
    func `COZ-22: a device token that would change the provider's URL is refused`(_ token: String)
        async throws
    {
        let notified = try await NotifiedWorld()
        let phone = try await notified.device("Phone", "apns", token)
        try await notified.send()
        #expect(try await notified.deliver() == [.refusedForGood(code: 400)])
        let known = try await notified.world.send(
            .get, "/auth/register/\(phone.id)", bearer: phone.token)
        #expect(known.json["notification_device_token"] == nil)
    }

    @Test func `COZ-22: a notification whose text was erased is not sent`() async throws {
        let notified = try await NotifiedWorld()
        _ = try await notified.device("Phone", "firebase", "t1")
        try await notified.send()
        try await notified.world.world.carryOut(
            AccountChange.disable(notified.world.account, mail: UUID.random()))
        #expect(try await notified.deliver() == [.pointless])
        #expect(notified.providers.taken.isEmpty)
        #expect(
            try await notified.world.happened("notification.failed").first?.open["reason"]
                == "pointless")
    }
}

@Suite struct `COZ-22 A mailed notification` {
    private func letter(_ language: String) async throws -> Letter {
        let notified = try await NotifiedWorld(hasProviders: false)
        try await notified.send([
            "title": "Your balance\r\nBcc: x@example.org", "message": "Three euros.\n<b>Now</b>",
            "data": ["appName": "Banks"],
        ])
        try await notified.deliver()
        let mailed = try #require(try await notified.world.happened("notification.mailed").first)
        let (log, mint) = (notified.world.world.log, notified.world.world.mint)
        let composer = MailComposer(
            mint: { _ in mint }, events: log, revision: { _ in 0 },
            settings: { _, _ in Settings(overrides: ["language": .string(language)]) })
        return try #require(try await composer.letter(for: mailed))
    }

    @Test(arguments: [
        ("en", "deliver this to any of your devices"), ("de", "Keines hat es angenommen"),
    ])
    func `COZ-22: a mailed notification is in the owner's language`(
        _ language: String, _ words: String
    ) async throws {
        let letter = try await letter(language)
        #expect(letter.to == "camille@example.org")
        #expect(letter.subject.hasPrefix("Your balance Bcc: x@example.org ("))
        #expect(letter.text.contains("Three euros.\n<b>Now</b>"))
        #expect(letter.html.contains("&lt;b&gt;Now&lt;/b&gt;"))
        #expect(letter.text.contains("Banks") && letter.text.contains(words))
    }
}
