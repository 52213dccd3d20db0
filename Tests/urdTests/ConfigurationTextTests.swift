import JSON
import Testing
import YAML

@testable import urd

@Suite struct `A configuration as text` {
    @Test(arguments: [
        ["a": ["b": 1, "c": .null, "d": [], "e": [:]]] as JSON,
        ["off": "off", "yes": "true", "1": "007", "x y": "a: b", "z": "# no", "empty": ""],
        ["list": ["plain", "- dash", 7, true, ["a": ["b"]]], "unicode": "Ünï\u{1F600}"],
        ["lines": "a\nb\n", "quote": "\"'", "url": "https://a.example:8443/x?y=1#z"],
        ["null": "null", "~": "~", "deep": ["deep": ["deep": [[1], [2, [3]]]]]],
    ])
    func `a value that is written as YAML is read as the same value`(value: JSON) throws {
        #expect(try YAMLDocument(Array(YAMLText.of(value).utf8)).value == value)
    }

    @Test func `a plan is told in words, old and new`() {
        let plan: JSON = [
            "realm": "acme", "new_realm": false,
            "changes": [
                [
                    "action": "change", "noun": "client", "name": "shop",
                    "members": [["name": "client_name", "old": "Shop", "new": "Web shop"]],
                    "secrets": [["name": "secret", "from": "env:X"]],
                ],
                ["action": "remove", "noun": "app", "name": "desk", "members": [], "secrets": []],
            ], "unnamed": [["noun": "client", "name": "old"]], "errors": [],
        ]
        #expect(
            PlanText(plan).text == """
                Realm acme: 1 to change, 1 to remove.
                  ~ client shop
                      client_name: "Shop" → "Web shop"
                      secret: the secret at env:X
                  - app desk
                  Not in the file, and left as it is (--prune removes it):
                    client old
                """)
    }
}
