import Testing

@testable import JSON

@Suite struct `The members of an object` {
    @Test func `a JSON object's members equal those of a dictionary after any changes`() {
        var random = SeededGenerator(seed: 11)
        let names = [
            "", "a", "aa", "b", "ä", "a\u{308}", "é", "zz", "\u{E000}", "\u{10000}", "member",
        ]
        for _ in 0..<300 {
            var object: JSONObject = [:]
            var dictionary: [String: JSON] = [:]
            for step in 0..<40 {
                let name = names.randomElement(using: &random) ?? ""
                let value = JSON.integer(Int64(step))
                switch Int.random(in: 0..<4, using: &random) {
                case 0:
                    #expect(
                        object.removeValue(forKey: name) == dictionary.removeValue(forKey: name))
                case 1:
                    object.merge([name: value, "other": .null]) { old, _ in old }
                    dictionary.merge([name: value, "other": .null]) { old, _ in old }
                default:
                    object[name] = value
                    dictionary[name] = value
                }
            }
            #expect(object.count == dictionary.count)
            for name in names + ["other"] { #expect(object[name] == dictionary[name]) }
            #expect(object.keys == dictionary.keys.sorted())
            #expect(object == JSONObject(dictionary.map { ($0.key, $0.value) }))
        }
    }

    @Test func `a JSON object's equality and hash do not depend on the order of its members`() {
        let first: JSONObject = ["b": 1, "a": 2, "é": 3]
        let second: JSONObject = ["e\u{301}": 3, "a": 2, "b": 1]
        #expect(first == second)
        #expect(first.hashValue == second.hashValue)
        #expect(first != ["b": 1, "a": 2, "é": 4])
        #expect(first != ["b": 1, "a": 2])
    }

    @Test func `a JSON object has each name once, with the last value`() {
        #expect(JSONObject([("a", 1), ("b", 2), ("a", 3)]) == ["a": 3, "b": 2])
    }

    @Test func `a JSON object's members are written in UTF-16 order`() {
        let object: JSONObject = ["\u{FF01}": 1, "\u{1F600}": 2, "z": 3]
        #expect(
            String(decoding: JSON.object(object).canonical(), as: UTF8.self)
                == "{\"z\":3,\"\u{1F600}\":2,\"\u{FF01}\":1}")
    }

    @Test func `a JSON object keeps the members that a filter accepts`() {
        let object: JSONObject = ["a": 1, "b": .null, "c": 3]
        #expect(object.filter { !$0.value.isNull } == ["a": 1, "c": 3])
        #expect(object.mapValues { $0.isNull ? 0 : $0 } == ["a": 1, "b": 0, "c": 3])
    }
}
