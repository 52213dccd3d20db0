public import JSON
import Values

// The forms that leave the house: docs/tamper-evidence.md describes them.

extension InclusionProof {
    public var json: JSON {
        [
            "format": "urd-inclusion/1",
            "position": .integer(position),
            "record": .string(String(decoding: record, as: UTF8.self)),
            "path": .array(path.map(\.json)),
            "checkpoint": checkpoint.json,
        ]
    }
}

extension ConsistencyProof {
    public var json: JSON {
        [
            "format": "urd-consistency/1",
            "old": old.json,
            "new": new.json,
            "path": .array(path.map(\.json)),
        ]
    }
}

extension SignedCheckpoint {
    var json: JSON { .string(String(decoding: note, as: UTF8.self)) }
}

extension TreeHash {
    var json: JSON { .string(Base64.encode(bytes)) }
}
