import EventSourcing
import HTTP
import Identity
import JSON
import LogTesting
import Testing
import Values

@testable import API

private let issuer = "https://id.acme.example"

/// One of every event as the golden list of Identity has them, read back from the log.
func eventSamples(opened: Bool = false) throws -> [Recorded] {
    let lines = try EventSampleList.lines()
    return try lines.enumerated().map { index, line in
        let name = String(line.prefix { $0 != " " })
        var objects =
            try JSON.parse(
                Array("[\(line.dropFirst(name.count + 1))]".utf8)
            ).array ?? []
        let open = try #require(objects.removeFirst().object)
        let personal = objects.first?.object
        let stream = UUID(high: 9, low: UInt64(index))
        return Recorded(
            realm: try #require(RealmID("acme")), position: Int64(index) + 1, stream: stream,
            version: 2, name: name, revision: 1, at: Timestamp(microseconds: 1_800_000_000_123_456),
            command: UUID(high: 8, low: UInt64(index)),
            subject: personal == nil ? nil : UUID(high: 7, low: 7),
            actor: "admin:00000000-0000-0004-0000-000000000004", client: nil,
            correlation: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            leaf: .standIn(stream, 2), open: open,
            personal: personal.map { opened ? .opened($0) : .sealed } ?? .none)
    }
}

@Suite struct `An event as it is delivered` {
    @Test func `an envelope fits its schema, and its data never holds what never leaves`() throws {
        let secrets = Set(["digest", "secret_digest", "recovery_codes", "hash", "secret"])
        for event in try eventSamples(opened: true) {
            for showsPersonal in [false, true] {
                let envelope = EventEnvelope(
                    event, epoch: 3, issuer: issuer, showsPersonal: showsPersonal)
                try EventEnvelope.schema.check(envelope.json)
                #expect(envelope.data.keys.allSatisfy { !secrets.contains($0) }, "\(event.name)")
                let personal = envelope.json["personal"]?.string
                #expect(
                    personal
                        == (event.subject == nil ? "none" : showsPersonal ? "opened" : "sealed"))
            }
        }
        try EventEnvelope.schema.check(EventEnvelope.example)
    }

    @Test func `an envelope is written as its members are, in canonical order`() throws {
        for sample in try eventSamples(opened: true) {
            let event = Recorded(
                realm: sample.realm, position: sample.position, stream: sample.stream,
                version: sample.version, name: sample.name, revision: sample.revision,
                at: sample.at, command: sample.command, subject: sample.subject,
                actor: sample.actor, client: "app \"\u{1}\u{E9}\"", correlation: nil,
                leaf: sample.leaf, open: sample.open.merging(["\u{FB33}": 1]) { $1 },
                personal: sample.personal)
            for showsPersonal in [false, true] {
                let whole = EventEnvelope(
                    event, epoch: 3, issuer: issuer, showsPersonal: showsPersonal)
                for envelope in [whole, whole.truncated] {
                    var bytes = Array("data: ".utf8)
                    envelope.write(into: &bytes)
                    #expect(bytes == Array("data: ".utf8) + envelope.json.canonical())
                    bytes = []
                    envelope.write(into: &bytes, record: Array("{}".utf8))
                    var members = try #require(envelope.json.object)
                    members["record"] = "{}"
                    #expect(bytes == JSON.object(members).canonical(), "\(event.name)")
                }
            }
        }
    }

    @Test func `opened personal fields stand in the data of those alone who may see them`() throws {
        let event = try #require(
            try eventSamples(opened: true).first { $0.name == "passkey.renamed" })
        let closed = EventEnvelope(event, epoch: 3, issuer: issuer)
        #expect(closed.data["name"] == nil && closed.data["account"] != nil)
        let open = EventEnvelope(event, epoch: 3, issuer: issuer, showsPersonal: true)
        #expect(open.data["name"] == "Phone" && open.data["account"] != nil)
        #expect(closed.cursor == "3:\(event.position)")
        #expect(closed.json["id"] == .string(event.id.description))
        #expect(closed.schema == "\(issuer)/schemas/events/passkey.renamed/1")
    }

    @Test func `a CloudEvent has the attributes of its specification and no others`() throws {
        let event = try #require(try eventSamples().first { $0.name == "mail.sent" })
        let form = CloudEvent(EventEnvelope(event, epoch: 3, issuer: issuer)).json
        #expect(
            form == [
                "specversion": "1.0", "id": .string(event.id.description),
                "source": .string(issuer), "type": "dev.urd.mail.sent",
                "subject": .string(event.stream.description),
                "time": .string(event.at.description),
                "recordedtime": .string(event.at.description),
                "datacontenttype": "application/json",
                "dataschema": "https://id.acme.example/schemas/events/mail.sent/1",
                "sequence": .string(CloudEvent.sequence(event.position)),
                "partitionkey": .string(event.stream.description),
                "correlationid": "0af7651916cd43dd8448eb211c80319c",
                "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                "authtype": "api_key", "authid": "00000000-0000-0004-0000-000000000004",
                "urdrealm": "acme", "urdepoch": 3, "urdversion": 2, "urdpersonal": "none",
                "urdleaf": .string(Base64URL.encode(event.leaf.bytes)),
                "data": ["attempt": 1, "channel": "sms"],
            ])
    }

    @Test func `every attribute of a CloudEvent has a name and a value that the format allows`()
        throws
    {
        for event in try eventSamples(opened: true) {
            let form = CloudEvent(EventEnvelope(event, epoch: 3, issuer: issuer), typePrefix: "x.")
            #expect(form.attributes["type"] == .string("x." + event.name))
            for (name, value) in form.attributes {
                #expect(name.utf8.allSatisfy { "a"..."z" ~= UnicodeScalar($0) } && name.count <= 20)
                let isSmall = value.integer.map { Int32(exactly: $0) != nil }
                #expect(isSmall ?? (value.string?.isEmpty == false), "\(name)")
            }
        }
        #expect(CloudEvent.sequence(7) == "00000000000000000007")
        #expect(CloudEvent.sequence(9) < CloudEvent.sequence(10))
    }

    @Test(arguments: [
        ("user:1", "app_user", "1"), ("operator:root", "user", "root"),
        ("client:a:b", "service_account", "a:b"), ("admin:1", "api_key", "1"),
        ("system", "system", nil), ("mailer", "system", "mailer"),
        ("anonymous", "unauthenticated", nil), ("", "unauthenticated", nil),
        ("martian:1", "unknown", "1"),
    ])
    func `an actor is of a kind of CloudEvents`(actor: String, kind: String, id: String?) {
        #expect(EventActor(actor).kind.rawValue == kind)
        #expect(EventActor(actor).id == id)
    }

    /// `Tests/Interop/test_event_documents.py` holds the list to the schema of OCSF.
    @Test func `the records of OCSF of every event are those of the golden list`() throws {
        let records = try eventSamples().flatMap { event in
            OCSFEvent(EventEnvelope(event, epoch: 3, issuer: issuer), version: "0.1.0")
                .records(withOnRequest: true)
        }
        let lines = records.map { String(decoding: $0.canonical(), as: UTF8.self) + "\n" }
        try GoldenFile(name: "ocsf.txt").expect(lines.joined())
        #expect(records.count > 100)
    }

    @Test func `a record says how severe it is, and holds nothing that never leaves`() throws {
        func severity(_ name: String, _ index: Int = 0) throws -> Int64? {
            let event = try eventSamples().filter { $0.name == name }[index]
            let form = OCSFEvent(EventEnvelope(event, epoch: 3, issuer: issuer), version: "0")
            return form.records(withOnRequest: true).first?["severity_id"]?.integer
        }
        #expect(try severity("session.opened") == 1)
        #expect(try severity("session.refused") == 2)
        #expect(try severity("session.ended") == 4)
        #expect(try severity("session.ended", 2) == 1)
        #expect(try severity("client.deleted") == 3)
        let event = try #require(try eventSamples().first { $0.name == "session.refreshed" })
        let form = OCSFEvent(EventEnvelope(event, epoch: 3, issuer: issuer), version: "0")
        #expect(form.records().isEmpty)
    }
}
