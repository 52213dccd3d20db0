import EventSourcing
import JSON
import LogTesting
import Testing
import Values

/// A kind of event whose shape has changed twice: a name became two, then one of them sealed.
private enum PersonEvent: Event {
    case named(first: String, last: String?)

    static let catalogue = [
        shape(1, [.text("name", "Name in full.")]) { fields in
            let words = (fields["name"]?.string ?? "").split(separator: " ").map(String.init)
            var newer: JSONObject = ["given": .string(words.first ?? "")]
            newer["family"] = words.dropFirst().first.map { .string($0) }
            return newer
        },
        shape(
            2, [.text("given", "Given name."), .text("family", "Family name.").optional]
        ) { fields in
            var newer: JSONObject = [:]
            newer["first"] = fields["given"]
            newer["last"] = fields["family"]
            return newer
        },
        shape(
            3,
            [
                .text("first", "First name."),
                .text("last", "Last name.", .personal(.person)).optional,
            ]),
    ]

    private static func shape(
        _ revision: Int, _ fields: [EventField],
        upcast: (@Sendable (JSONObject) -> JSONObject)? = nil
    ) -> EventShape {
        EventShape(
            "person.named", revision: revision, .audit, "The person got a name.", fields,
            upcast: upcast)
    }

    var name: String { "person.named" }
    var subject: UUID? { UUID(high: 5, low: 5) }

    var fields: JSONObject {
        switch self {
        case .named(let first, let last):
            var fields: JSONObject = ["first": .string(first)]
            fields["last"] = last.map { .string($0) }
            return fields
        }
    }

    init?(name: String, fields: JSONObject) {
        guard name == "person.named", let first = fields["first"]?.string else { return nil }
        self = .named(first: first, last: fields["last"]?.string)
    }
}

@Suite struct `Reading and writing events` {
    let stream = UUID(high: 1, low: 1)

    private func recorded(
        _ name: String = "person.named", revision: Int, open: JSONObject,
        personal: Recorded.Personal = .none
    ) -> Recorded {
        Recorded(
            realm: .system, position: 1, stream: stream, version: 1, name: name,
            revision: revision, at: testOrigin.at, command: .zero, subject: nil, actor: "system",
            client: nil, correlation: nil, leaf: .standIn(stream, 1), open: open, personal: personal
        )
    }

    @Test func `the event codec writes the newest shape with personal fields apart`() {
        let event = NewEvent(PersonEvent.named(first: "Ada", last: "Lovelace"), in: stream)
        #expect(event.revision == 3)
        #expect(event.open == ["first": "Ada"])
        #expect(event.personal == ["last": "Lovelace"])
        #expect(event.subject == UUID(high: 5, low: 5))
    }

    @Test func `the event codec upcasts each old shape`() {
        let expected = PersonEvent.named(first: "Ada", last: "Lovelace")
        #expect(PersonEvent(recorded(revision: 1, open: ["name": "Ada Lovelace"])) == expected)
        #expect(
            PersonEvent(recorded(revision: 2, open: ["given": "Ada", "family": "Lovelace"]))
                == expected)
        #expect(
            PersonEvent(
                recorded(
                    revision: 3, open: ["first": "Ada"], personal: .opened(["last": "Lovelace"])))
                == expected)
    }

    @Test func `the event codec reads an event whose subject was erased`() {
        let expected = PersonEvent.named(first: "Ada", last: nil)
        #expect(
            PersonEvent(recorded(revision: 3, open: ["first": "Ada"], personal: .erased))
                == expected)
        #expect(
            PersonEvent(recorded(revision: 3, open: ["first": "Ada"], personal: .sealed))
                == expected)
    }

    @Test func `the event codec refuses a sealed field in place of an open one`() {
        let event = PersonEvent(
            recorded(
                revision: 3, open: ["first": "Ada"],
                personal: .opened(["first": "Eve", "last": "L", "$address": "192.0.2.1"])))
        #expect(event == .named(first: "Ada", last: "L"))
    }

    @Test func `the event codec refuses shapes that were never written`() {
        #expect(PersonEvent(recorded("person.renamed", revision: 1, open: [:])) == nil)
        #expect(PersonEvent(recorded(revision: 3, open: ["given": "Ada"])) == nil)
    }

    @Test func `the event codec shows every field in the golden line`() {
        let lines = PersonEvent.catalogue.map(\.goldenLine)
        #expect(
            lines == [
                "person.named 1 audit name:text:open",
                "person.named 2 audit family:text?:open given:text:open",
                "person.named 3 audit first:text:open last:text?:personal/person",
            ])
    }
}

@Suite struct `The name of a realm` {
    @Test(arguments: ["a", "acme", "a-b", "0", "x0-9y", String(repeating: "a", count: 63)])
    func `a realm's name is a label of a host name`(name: String) {
        #expect(RealmID(name)?.name == name)
    }

    @Test(
        arguments: [
            "", "-a", "a-", "A", "a.b", "a_b", "ä", "a b", "a\n", "a/b",
            String(repeating: "a", count: 64),
        ])
    func `a realm's name in any other form is refused`(name: String) {
        #expect(RealmID(name) == nil)
    }
}
