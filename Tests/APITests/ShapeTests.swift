import JSON
import Testing
import Values

@testable import API

@Suite struct `A shape of answers` {
    private struct View {
        var id = UUID.zero
        var name: String?
        var note: String?
        var isOpen = true
    }

    private static let shape = Shape<View>(
        "Thing",
        .required("id", "Thing id.", \.id),
        .nullable("name", .text(1...10), "Name of the thing.", \.name),
        .optional("note", .text(1...10), "Note on the thing.", \.note, example: "blue"),
        .required("open", "Whether the thing is open.", \.isOpen, example: false),
        .added(.optional("count", .integer(0...9), "Number of the thing's parts.")))

    @Test func `a member without a value is null or left out, as the shape says`() throws {
        let json = Self.shape.json(View())
        #expect(json == ["id": .string(UUID.zero.description), "name": .null, "open": true])
        try Self.shape.schema.check(json)
    }

    @Test func `an object has every member that its view has a value for`() throws {
        let json = Self.shape.json(View(name: "Box", note: "red", isOpen: false))
        #expect(json["name"] == "Box")
        #expect(json["note"] == "red")
        #expect(json["open"] == false)
        try Self.shape.schema.check(json)
    }

    @Test func `the example has the members' examples and keeps to the schema`() throws {
        #expect(
            Self.shape.example
                == ["id": UUID.example, "name": .null, "note": "blue", "open": false])
        try Self.shape.schema.check(Self.shape.example)
    }

    @Test func `a schema has the members in the order of the shape`() throws {
        guard case .named("Thing", .object(let rule)) = Self.shape.schema else {
            Issue.record("The schema has no name.")
            return
        }
        #expect(rule.members.map(\.name) == ["id", "name", "note", "open", "count"])
        #expect(rule.members.map(\.isRequired) == [true, true, false, true, false])
    }

    @Test func `a shape with more members has those of the first one, too`() throws {
        let more = Self.shape.adding(
            "FreshThing", .added(.required("secret", .text(3...3), "Secret."), example: "abc"))
        #expect(more.example["secret"] == "abc")
        #expect(more.example["note"] == "blue")
        #expect(more.json(View()) == Self.shape.json(View()))
        guard case .named("FreshThing", _) = more.schema else {
            Issue.record("The schema has the first name.")
            return
        }
    }

    @Test func `a shape over an object adds its members to it`() throws {
        let over = Shape<JSONObject>(
            "",
            of: [.required("count", .integer(0...9), "Number of parts.", \.count, example: 1)],
            over: { $0 })
        #expect(over.json(["a": "b"]) == ["a": "b", "count": 1])
    }
}
