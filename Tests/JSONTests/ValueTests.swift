import JSON
import Testing

@Suite struct `A JSON value` {
    let value: JSON = ["name": "Urd", "age": 3, "open": true, "none": .null, "list": [1, "b"]]

    @Test func `a JSON value returns its members by their kind`() {
        #expect(value["name"]?.string == "Urd")
        #expect(value["age"]?.integer == 3)
        #expect(value["open"]?.bool == true)
        #expect(value["none"]?.isNull == true)
        #expect(value["list"]?.array == [1, "b"])
        #expect(value["list"]?[1] == "b")
        #expect(value.object?.count == 5)
    }

    @Test func `a JSON value returns nil for another kind`() {
        #expect(value["name"]?.integer == nil)
        #expect(value["age"]?.string == nil)
        #expect(value["age"]?.bool == nil)
        #expect(value["name"]?.array == nil)
        #expect(value["name"]?.object == nil)
        #expect(value["missing"] == nil)
        #expect(value[0] == nil)
        #expect(value["list"]?["x"] == nil)
        #expect(value["list"]?[2] == nil)
        #expect(value["list"]?[-1] == nil)
    }

    @Test func `a JSON literal keeps the last of two members of one name`() {
        #expect((["a": 1, "a": 2] as JSON) == ["a": 2])
    }

    @Test func `a JSON value is made from interpolated text`() {
        #expect(("n\(1)" as JSON) == .string("n1"))
    }
}
