import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

@testable import API

@Suite struct `What a message of a webhook says` {
    private let issuer = "https://id.acme.example"

    private func body(
        _ event: Recorded, _ format: SubscriptionTerms.Format = .standard, personal: Bool = false,
        stream: [Recorded] = []
    ) throws -> JSON {
        let terms = SubscriptionTerms(
            name: "CRM", url: "https://crm.example.org/", format: format,
            includesPersonal: personal)
        return try JSON.parse(
            WebhookBody(
                event, epoch: 3, issuer: issuer, terms: terms, stream: stream, version: "0"
            ).bytes)
    }

    @Test func `the standard form has the envelope of the feed as its data`() throws {
        for event in try eventSamples(opened: true) {
            for personal in [false, true] {
                let said = try body(event, personal: personal)
                let envelope = EventEnvelope(
                    event, epoch: 3, issuer: issuer, showsPersonal: personal)
                #expect(said["type"] == .string(event.name))
                #expect(said["timestamp"] == .string(event.at.description))
                #expect(said["data"] == envelope.json)
            }
        }
    }

    @Test func `the other forms are CloudEvents and a list of records of OCSF`() throws {
        let event = try #require(try eventSamples().first { $0.name == "session.ended" })
        let envelope = EventEnvelope(event, epoch: 3, issuer: issuer)
        #expect(try body(event, .cloudEvents) == CloudEvent(envelope).json)
        let opened = try #require(try eventSamples().first { $0.name == "session.opened" })
        let account = try #require(opened.open["account"]?.string)
        let records = try body(event, .ocsf, stream: [opened.moved(to: event.stream, 1), event])
        #expect(records[0]?["user"]?["uid"] == .string(account))
    }

    @Test(arguments: SubscriptionTerms.Format.allCases)
    func `fields that make a body too long are left out, and where they are is said`(
        format: SubscriptionTerms.Format
    ) throws {
        let event = try #require(try eventSamples().first { $0.name == "app.created" })
        let long = event.with(["name": .string(String(repeating: "a", count: 20_000))])
        let said = try body(long, format)
        #expect(said.canonical().count < 2_000)
        let place: JSON = .string("\(issuer)/api/admin/realms/acme/events/\(event.position)")
        let data: JSON?
        switch format {
        case .standard: data = said["data"]
        case .cloudEvents: data = said["data"]
        case .ocsf: data = said[0]?["unmapped"]?["data"]
        }
        #expect(data?["truncated"] == true && data?["href"] == place)
        if format == .standard { try EventEnvelope.schema.check(said["data"] ?? .null) }
        let short = try body(event, format)
        #expect(!String(decoding: short.canonical(), as: UTF8.self).contains("truncated"))
    }

    @Test func `a CloudEvent names the realm where no address is known`() throws {
        let event = try #require(try eventSamples().first)
        let source = CloudEvent(EventEnvelope(event, epoch: 3, issuer: "")).json["source"]
        // As in the feed.
        #expect(source == "urn:urd:realm:acme")
    }
}

extension Recorded {
    fileprivate func with(_ fields: JSONObject) -> Recorded {
        copy(open: open.merging(fields) { $1 }, version: version, stream: stream)
    }

    fileprivate func moved(to stream: UUID, _ version: Int) -> Recorded {
        copy(open: open, version: version, stream: stream)
    }

    private func copy(open: JSONObject, version: Int, stream: UUID) -> Recorded {
        Recorded(
            realm: realm, position: position, stream: stream, version: version, name: name,
            revision: revision, at: at, command: command, subject: subject, actor: actor,
            client: client, correlation: correlation, leaf: leaf, open: open, personal: personal)
    }
}
