import JSON
import Testing

@Suite struct `Members that are written as they come` {
    private func describe(_ members: inout some Members) {
        members.add("a", String("\"quoted\" and \u{1F511}"))
        members.add("absent", nil as String?)
        members.add("b", Int64(-9))
        members.add("c", .array([1, .null, .bool(false)]))
        members.add("d", ["kept": 1, "left": ["x": 2], "\u{E9}": "y"]) { $0 != "left" }
        members.add("e", [:]) { _ in true }
    }

    @Test func `members have the bytes of the object that they make`() {
        var object = JSONObject()
        describe(&object)
        var written: [UInt8] = []
        WrittenMembers.write(into: &written) { describe(&$0) }
        #expect(written == JSON.object(object).canonical())
        #expect(object["d"] == ["kept": 1, "\u{E9}": "y"])
        #expect(object["absent"] == nil && object["e"] == [:])
    }

    @Test func `members go on behind what is there, and within each other`() {
        var written = Array("x".utf8)
        WrittenMembers.write(into: &written) { outer in
            outer.add("a") { inner in
                inner.add("b", Int64(1))
                inner.add("c") { _ in }
            }
            outer.add("d", String("e"))
        }
        #expect(String(decoding: written, as: UTF8.self) == #"x{"a":{"b":1,"c":{}},"d":"e"}"#)
    }
}
