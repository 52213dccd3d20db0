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
                    "Last moment of the case file: a position, a time or a day; now by default."
                ),
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
            "about": ["kind": "account", "id": "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10"],
            "open": false, "reason": "Incident 4711",
        ])

    static let schema = Schema.named(
        "CaseFile",
        .object(
            .required("id", Fields.id, "Case file id."),
            .required(
                "state", .oneOf(CaseFileJob.State.allCases.map(\.rawValue)),
                "State of the case file; a finished file can be downloaded for a day."),
            .required("about", about, "Subject of the case file."),
            .required("until", Fields.position, "Last position of the case file."),
            .required("open", .boolean, "Whether personal fields are opened."),
            .required("complete", .boolean, "Whether the file has the leaves of the whole log."),
            .required("reason", .text(1...300), "Reason of the request."),
            .required("asker", .text(1...300), "Actor that the file is issued to."),
            .required("asked_at", Fields.time, "Time of the request."),
            .required("records", .integer(0...1_000_000), "Number of records so far."),
            .required(
                "opened", .integer(0...1_000_000),
                "Number of records whose personal fields are opened."),
            .optional(
                "digest", .text(43...43),
                "Hash of all lines of the file, as in the event `case_file.issued`."),
            .optional(
                "fault", .oneOf(CaseFileJob.Fault.allCases.map(\.rawValue)),
                "Fault for which the file cannot be made."),
            .optional(
                "finished_at", Fields.time,
                "Time at which the file was ready, failed or was cancelled.")))

    static let example: JSON = [
        "id": "0193a0e7-5e0c-8000-9000-2f6b1c1d9a30", "state": "waiting",
        "about": ["kind": "account", "id": "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10"],
        "until": 48_211, "open": false, "complete": false, "reason": "Incident 4711",
        "asker": "admin:0193a0e7-5e0c-8000-9000-2f6b1c1d9a12",
        "asked_at": "2026-11-21T01:23:45.123456Z", "records": 0, "opened": 0,
    ]

    static func json(_ job: CaseFileJob) -> JSON {
        let question = job.question
        var members: JSONObject = [
            "id": .string(job.id.description), "state": .string(job.state.rawValue),
            "about": ["kind": .string(question.about.rawValue), "id": .string(question.id)],
            "until": .integer(question.until), "open": .bool(question.opens),
            "complete": .bool(question.isComplete), "reason": .string(question.reason),
            "asker": .string(job.asker), "asked_at": .string(job.askedAt.description),
            "records": .integer(job.progress.records), "opened": .integer(job.progress.opened),
        ]
        if job.state == .ready { members["digest"] = .string(Base64URL.encode(job.progress.chain)) }
        members["fault"] = job.fault.map { .string($0.rawValue) }
        members["finished_at"] = job.finishedAt.map { .string($0.description) }
        return .object(members)
    }
}
