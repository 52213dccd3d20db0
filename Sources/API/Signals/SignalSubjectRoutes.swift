internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import Mail
internal import Values

/// Where receivers say whose signals they want (SSF 1.0 section 8.1.3). The answer is the same whether
/// an account has that name or not.
enum SignalSubjectRoutes {
    static func table(_ pages: SignalPages?) -> [Route<RealmContext>] {
        [
            route(
                SignalMetadataRoutes.addSubject, id: "addSignalSubject",
                "Adds a subject to a stream.",
                answer: Answer(
                    status: .ok, description: "The subject is added.", content: .nothing),
                example: example.merging(["verified": true]) { own, _ in own }, isIncluded: true,
                pages),
            route(
                SignalMetadataRoutes.removeSubject, id: "removeSignalSubject",
                "Removes a subject from a stream.",
                answer: .done("The subject is removed."),
                example: example, isIncluded: false, pages),
        ]
    }

    private static func route(
        _ path: String, id: String, _ summary: String, answer: Answer, example: JSONObject,
        isIncluded: Bool, _ pages: SignalPages?
    ) -> Route<RealmContext> {
        Route(
            .post, PathTemplate(stringLiteral: path), id: id, tag: SignalAnswers.tag,
            summary: summary, detail: detail, right: .service, voice: .oauth,
            body: SignalAnswers.body(.object(example)), answer: answer,
            refusals: SignalAnswers.faults + [.askedTooOften]
        ) { call throws(Problem) in
            let receiver = try call.signalReceiver(SignalScope.manage)
            let stream = try await call.namedSignalStream(of: receiver)
            if let subject = try call.namedSubject(for: stream) {
                let (context, pages) = (call.context, try pages.present)
                let otherNames = try await reading { () throws(LogFailure) in
                    try await SignalReader(context, pages).otherNames(of: subject, in: stream)
                }
                try await Commands(call).dispatch(
                    SignalStreamChange.setSubject(
                        stream.id, client: receiver.client, subject: subject,
                        otherNames: otherNames, isIncluded: isIncluded), as: receiver.caller)
            }
            return Response(status: answer.status)
        }
    }

    private static let detail = """
        Needs the scope `ssf.manage`. Accounts are named by `iss_sub` or `email`, and both names of \
        one account are one subject: what was added by one is removed by the other. The answer does \
        not tell whether there is such an account.
        """

    private static let example: JSONObject = [
        "stream_id": .string(SignalAnswers.stream),
        "subject": ["format": "email", "email": "ann@example.org"],
    ]
}

extension Call<RealmContext> {
    /// Nil for a subject that nothing here can ever match.
    fileprivate func namedSubject(
        for stream: KnownSignalStream
    ) throws(Problem) -> NamedSubject? {
        guard let subject = body["subject"]?.object else {
            throw Problem(.missingField, "subject is required.", field: "subject")
        }
        // Where the user of a complex subject is named, its other members are narrower than any account.
        let simple = subject["format"]?.string == "complex" ? nil : subject
        switch simple?["format"]?.string {
        case "iss_sub":
            guard let issuer = subject["iss"]?.string, let sub = subject["sub"]?.string else {
                throw Problem(.invalidField, "subject needs iss and sub.", field: "subject")
            }
            guard issuer == stream.terms.issuer, SubjectForm.matches(sub) else { return nil }
            return .sub(sub)
        case "email":
            guard let email = subject["email"]?.string else {
                throw Problem(.invalidField, "subject needs email.", field: "subject")
            }
            guard let address = try? MailAddress(email) else { return nil }
            return .mailbox(context.mint.mailbox(address.text))
        case nil where subject["format"] == nil:
            throw Problem(.invalidField, "subject needs a format.", field: "subject")
        default: return nil
        }
    }
}

extension SignalStreamChange.SetSubjectRejection: Refusal {
    var problem: Problem {
        switch self {
        case .notFound: Problem(.noSuchSignalStream)
        case .tooMany(let limit):
            Problem(.askedTooOften, "A stream treats at most \(limit) subjects by name.")
        }
    }
}
