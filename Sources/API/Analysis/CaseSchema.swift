internal import EventSourcing
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// How case files are spoken of.
enum CaseSchema {
    static let id = Parameter(
        "case_id", in: .path, Fields.id, "Case file id.",
        example: "0193a0e7-5e0c-8000-9000-2f6b1c1d9a30")

    private static let about = Schema.named(
        "CaseSubject",
        .object(
            .required(
                "kind", .oneOf(IssuedCaseFile.About.allCases.map(\.rawValue)),
                "Kind of subject; a source is a network, a browser a session at the "
                    + "realm's pages."
            ),
            .required(
                "id", .text(1...255),
                "Id of the subject; for a client also its OAuth client id, for a source "
                    + "the pseudonym, for a device the kind."
            )))

    static let body = Body(
        schema: .named(
            "NewCaseFile",
            .object(
                .required("about", about, "Subject of the case file."),
                .optional(
                    "until", AsOfMoment.schema,
                    "Last moment of the case file: a position, a time or a day; now by default."),
                .optional(
                    "open", .boolean,
                    "Whether personal fields are opened, each event with a key of its own."),
                .optional(
                    "complete", .boolean,
                    "Whether the file has the leaves of the whole log, for an auditor who has "
                        + "the log."
                ),
                .required(
                    "reason", OpenRequest.schema,
                    "Reason of the request, kept in the log beside the caller's name."))),
        example: [
            "about": exampleSubject, "open": false, "reason": "Incident 4711",
        ])

    static let shape = Shape<CaseFileJob>(
        "CaseFile",
        .required("id", "Case file id.", \.id, example: "0193a0e7-5e0c-8000-9000-2f6b1c1d9a30"),
        .required(
            "state", .oneOf(CaseFileJob.State.allCases.map(\.rawValue)),
            "State of the case file; a finished file can be downloaded for a day.",
            \.state.rawValue, example: "waiting"),
        .required(
            "about", about, "Subject of the case file.",
            {
                ["kind": .string($0.question.about.rawValue), "id": .string($0.question.id)] as JSON
            }, example: exampleSubject),
        .required(
            "until", Fields.position, "Last position of the case file.", \.question.until,
            example: 48_211),
        .required("open", "Whether personal fields are opened.", \.question.opens, example: false),
        .required(
            "complete", "Whether the file has the leaves of the whole log.", \.question.isComplete,
            example: false),
        .required(
            "reason", .text(1...300), "Reason of the request.", \.question.reason,
            example: "Incident 4711"),
        .required(
            "asker", .text(1...300), "Actor that the file is issued to.", \.asker,
            example: "admin:0193a0e7-5e0c-8000-9000-2f6b1c1d9a12"),
        .required("asked_at", "Time of the request.", \.askedAt),
        .required(
            "records", .integer(0...1_000_000), "Number of records so far.", \.progress.records,
            example: 0),
        .required(
            "opened", .integer(0...1_000_000),
            "Number of records whose personal fields are opened.", \.progress.opened, example: 0),
        .optional(
            "digest", .text(43...43),
            "Hash of all lines of the file, as in the event `case_file.issued`.",
            { $0.state == .ready ? Base64URL.encode($0.progress.chain) : nil }),
        .optional(
            "fault", .oneOf(CaseFileJob.Fault.allCases.map(\.rawValue)),
            "Fault for which the file cannot be made.", \.fault?.rawValue),
        .optional(
            "finished_at", "Time at which the file was ready, failed or was cancelled.",
            \.finishedAt))

    private static let exampleSubject: JSON = [
        "kind": "account", "id": "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10",
    ]
}
