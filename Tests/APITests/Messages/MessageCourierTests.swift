import EventSourcing
import HTTP
import Identity
import JSON
import LogTesting
import Synchronization
import Testing
import Values

@testable import API

@Suite struct `Handing messages to gateways` {
    private static let id = UUID(high: 1, low: 2)
    private static let twilio = MessageGateway(
        kind: .twilio, address: "https://api.twilio.example", account: "AC01",
        sender: "+15005550006", secret: "token")
    private static let cloud = MessageGateway(
        kind: .whatsappCloud, address: "https://graph.example", account: "1065",
        template: "sign_in_code", secret: "access")

    private final class Line: Sendable {
        let calls = Mutex<[ProviderCall]>([])
    }

    private func letter(_ channel: Channel, others: [Channel] = []) throws -> Letter {
        Letter(
            realm: try #require(RealmID("acme")), channel: channel, otherChannels: others,
            to: "+41781234567", from: nil, fromName: "Acme", subject: "",
            text: "123456 is your code & more.", html: "", code: "123456", language: "en",
            deadline: Timestamp(seconds: 1_800_000_000))
    }

    /// What came of it, and what was called.
    private func carry(
        _ letter: Letter, by gateways: [Channel: MessageGateway], _ answers: ProviderAnswer...
    ) async throws -> (outcome: String, calls: [ProviderCall]) {
        var state = MessageGateways()
        for (channel, gateway) in gateways { state.apply(.set(channel, gateway)) }
        let line = Line()
        let courier = MessageCourier(events: WatchedLog()) { call in
            let count = line.calls.withLock { calls in
                calls.append(call)
                return calls.count
            }
            return answers[min(count, answers.count) - 1]
        }
        let outcome = await courier.carry(letter, as: Self.id, by: state)
        return ("\(outcome)", line.calls.withLock { $0 })
    }

    private func answer(_ status: Int) -> ProviderAnswer {
        .answered(status: status, body: [], retryAfter: nil)
    }

    private func taken(_ channel: Channel) -> String {
        "\(RecordDeliveries.Outcome.taken(by: channel))"
    }

    @Test func `a webhook is sent JSON, and shown who calls`() async throws {
        let hook = MessageGateway(
            kind: .webhook, address: "https://sms.example/send?a=b", secret: "s3cret")
        let (outcome, calls) = try await carry(try letter(.sms), by: [.sms: hook], answer(204))
        #expect(outcome == taken(.sms))
        let call = try #require(calls.first)
        #expect(calls.count == 1 && call.address == "https://sms.example/send?a=b")
        #expect(call.header("Authorization") == "Bearer s3cret")
        #expect(call.header("Idempotency-Key") == Self.id.description)
        #expect(
            try JSON.parse(call.body) == [
                "id": .string(Self.id.description), "realm": "acme", "channel": "sms",
                "to": "+41781234567", "text": "123456 is your code & more.", "code": "123456",
                "language": "en", "expires_at": "2027-01-15T08:00:00.000000Z",
            ])
    }

    @Test func `Twilio is sent a form`() async throws {
        let (outcome, calls) = try await carry(
            try letter(.sms), by: [.sms: Self.twilio], answer(201))
        #expect(outcome == taken(.sms))
        let call = try #require(calls.first)
        #expect(
            call.address == "https://api.twilio.example/2010-04-01/Accounts/AC01/Messages.json")
        #expect(call.header("Authorization") == "Basic QUMwMTp0b2tlbg==")
        #expect(
            String(decoding: call.body, as: UTF8.self)
                == "To=%2B41781234567&From=%2B15005550006&Body=123456+is+your+code+%26+more.")
        var service = Self.twilio
        service.sender = "MG0123456789abcdef0123456789abcdef"
        service.template = "HX01"
        let other = try await carry(try letter(.whatsapp), by: [.whatsapp: service], answer(201))
        let body = String(decoding: other.calls.first?.body ?? [], as: UTF8.self)
        #expect(
            body
                == "To=whatsapp%3A%2B41781234567&MessagingServiceSid=MG0123456789abcdef0123456789abcdef"
                + "&ContentSid=HX01&ContentVariables=%7B%221%22%3A%22123456%22%7D")
    }

    @Test func `WhatsApp is sent a template with the code in its text and its button`() async throws
    {
        let (outcome, calls) = try await carry(
            try letter(.whatsapp), by: [.whatsapp: Self.cloud], answer(200))
        #expect(outcome == taken(.whatsapp))
        let call = try #require(calls.first)
        #expect(call.address == "https://graph.example/v21.0/1065/messages")
        #expect(call.header("Authorization") == "Bearer access")
        let body = try JSON.parse(call.body)
        #expect(body["to"] == "41781234567" && body["messaging_product"] == "whatsapp")
        let template = body["template"]
        #expect(template?["name"] == "sign_in_code" && template?["language"]?["code"] == "en")
        let parts = try #require(template?["components"]?.array)
        #expect(parts.map { $0["type"] } == ["body", "button"])
        for part in parts { #expect(part["parameters"]?.array?.first?["text"] == "123456") }
    }

    @Test func `a message goes by the next channel where one did not take it`() async throws {
        let both: [Channel: MessageGateway] = [.sms: Self.twilio, .whatsapp: Self.cloud]
        for first in [answer(400), answer(401), answer(429), answer(503), .unreachable, .forbidden]
        {
            let (outcome, calls) = try await carry(
                try letter(.whatsapp, others: [.sms]), by: both, first, answer(201))
            #expect(outcome == taken(.sms) && calls.count == 2, "\(first)")
            #expect(calls.last?.address.hasPrefix("https://api.twilio") == true)
        }
        // The first has no gateway.
        let (outcome, calls) = try await carry(
            try letter(.whatsapp, others: [.sms]), by: [.sms: Self.twilio], answer(201))
        #expect(outcome == taken(.sms) && calls.count == 1)
    }

    @Test func `a message that was perhaps taken goes by no other channel, and not again`()
        async throws
    {
        for first in [answer(500), answer(502), answer(504), .unanswered] {
            let (outcome, calls) = try await carry(
                try letter(.whatsapp, others: [.sms]),
                by: [.sms: Self.twilio, .whatsapp: Self.cloud], first, answer(201))
            #expect(outcome.hasPrefix("refusedForGood") && outcome.contains("unsettled"))
            #expect(calls.count == 1)
        }
    }

    @Test func `what nobody takes is tried again only where it was not taken now`() async throws {
        let letter = try letter(.sms)
        for (first, outcome) in [
            (answer(400), "refusedForGood(code: 400"), (answer(403), "refusedForGood(code: 403"),
            (answer(429), "refusedForNow(code: 429"), (.unreachable, "refusedForNow(code: 0"),
        ] as [(ProviderAnswer, String)] {
            let found = try await carry(letter, by: [.sms: Self.twilio], first)
            #expect(found.outcome.hasPrefix(outcome))
        }
        let none = try await carry(letter, by: [.whatsapp: Self.cloud], answer(200))
        #expect(none.outcome.contains("noGateway") && none.calls.isEmpty)
        var sealed = Self.twilio
        sealed.secret = nil
        let lost = try await carry(letter, by: [.sms: sealed], answer(200))
        #expect(lost.calls.isEmpty)
    }
}

extension ProviderCall {
    fileprivate func header(_ name: String) -> String? {
        headers.first { $0.name == name }?.value
    }
}
