internal import JSON

/// What the descriptions of the routes for receivers have in common.
enum SignalAnswers {
    static let faults: [ProblemKind] =
        Place.refusals + [
            .insufficientScope, .forbidden, .noSuchSignalStream, .missingField, .invalidField,
            .malformedJSON,
        ]

    static let tag = "Shared signals"

    static let stream = "0193a0e7-5e0c-7000-9000-2f6b1c1d9a10"

    static func body(_ example: JSON) -> Body {
        Body(schema: .openObject, example: example, maximumBytes: 64 * 1024)
    }
}
