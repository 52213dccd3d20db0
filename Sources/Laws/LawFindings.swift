public import JSON

/// What the laws say of a log.
public struct LawFindings: Sendable, Equatable {
    public struct Verdict: Sendable, Equatable {
        public let number: Int
        public let sentence: String
        /// The types of the events that the law reads; none: all events, or checkpoints.
        public let types: [String]
        /// How many events or checkpoints it was asked about.
        public var asked: Int64
        /// How often the law was broken.
        public var broken: Int64
        /// How often it would have had to know what stands before the first position, or was forgotten since.
        public var unknown: Int64
    }

    public struct Violation: Sendable, Equatable {
        public let law: Int
        public let position: Int64
        public let what: String
    }

    public let first: Int64
    public let last: Int64
    public let verdicts: [Verdict]
    /// The first ones of each law.
    public let violations: [Violation]

    public var isLawful: Bool { verdicts.allSatisfy { $0.broken == 0 } }
}

extension LawFindings {
    public var json: JSON {
        [
            "from": .integer(first), "to": .integer(last), "lawful": .bool(isLawful),
            "laws": .array(verdicts.map(\.json)), "violations": .array(violations.map(\.json)),
        ]
    }
}

extension LawFindings.Verdict {
    fileprivate var json: JSON {
        [
            "law": .integer(Int64(number)), "sentence": .string(sentence),
            "events": .array(types.map { .string($0) }), "asked": .integer(asked),
            "broken": .integer(broken), "unknown": .integer(unknown),
        ]
    }
}

extension LawFindings.Violation {
    fileprivate var json: JSON {
        ["law": .integer(Int64(law)), "position": .integer(position), "what": .string(what)]
    }
}
