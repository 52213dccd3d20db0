internal import EventSourcing
internal import Identity
internal import JSON
internal import Values

/// The parameters of a question that opens sealed data on request, and why it is opened.
enum OpenRequest {
    static let name = "open"

    static func parameter(_ what: String) -> Parameter {
        Parameter(name, in: .query, .boolean, what, permission: .eventsOpen)
    }

    static func reason(_ name: String = "reason") -> Parameter {
        Parameter(
            name, in: .query, schema,
            "Reason for opening personal fields, kept in the log beside the caller's "
                + "name.",
            example: "Incident 4711")
    }

    /// More than a word of four letters, which says nothing to who reads it in a year.
    static let schema = Schema.text(
        5...DisclosureChange.longestReason,
        .said(
            "a reason of 5 to \(DisclosureChange.longestReason) characters on one line, in words",
            .sequence([
                .some(shown, 0...DisclosureChange.longestReason), .one(letters),
                .some(shown, 0...DisclosureChange.longestReason),
            ])))

    /// Without those that `TextRule.label` refuses: a question is refused before anything is done for it.
    private static let shown = Characters(
        0x20...0x7E, 0xA0...0x61B, 0x61D...0x180D, 0x180F...0x200A, 0x200C...0x200D,
        0x2010...0x2027, 0x202F...0x205F, 0x2070...0xD7FF, 0xE000...0xFEFE, 0xFF00...0xFFF8,
        0xFFFC...0x10FFFF)
    private static let letters = Characters(
        0x41...0x5A, 0x61...0x7A, 0xC0...0x24F, 0x370...0x61B, 0x61D...0x180D, 0x180F...0x1FFF,
        0x3040...0xD7FF)
}

extension Call<AdminContext> {
    var isOpening: Bool { parameters[OpenRequest.name]?.bool == true }

    /// Whether personal fields are opened, which needs a reason.
    func isOpening(for reason: String) throws(Problem) -> Bool {
        guard isOpening else { return false }
        guard text(reason) != nil else {
            throw Problem(.missingParameter, "What is opened needs a reason.", field: reason)
        }
        return true
    }

    func disclose(
        _ kind: DisclosureKind, of accounts: [UUID], for reason: String?
    ) async throws(Problem) {
        let write = write(in: try realm)
        _ = try await run(
            DisclosureChange.record(
                write.newID("disclosure"), kind: kind, accounts: accounts, reason: reason),
            as: write)
    }
}

extension DisclosureChange.RecordRejection: Refusal {
    var problem: Problem {
        switch self {
        case .idTaken: Problem(.internalError)
        // The one field is a parameter of a question.
        case .invalid(let fault): Problem(.invalidParameter, field: fault.field)
        }
    }
}
