internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// Where receivers pause, resume and disable their streams (SSF 1.0 section 8.1.2).
enum SignalStatusRoutes {
    static let table: [Route<RealmContext>] = [read, change]

    private static let path = PathTemplate(stringLiteral: SignalMetadataRoutes.status)

    private static let read = Route<RealmContext>(
        .get, path, id: "getSignalStreamStatus", tag: SignalAnswers.tag,
        summary: "Shows whether a stream is enabled, paused or disabled.",
        detail: "Needs the scope `ssf.read`.", right: .service, voice: .oauth,
        parameters: [
            Parameter(
                "stream_id", in: .query, .text(1...255), required: true, "Stream id.",
                example: .string(SignalAnswers.stream))
        ],
        answer: .ok("The status.", shape), refusals: SignalAnswers.faults
    ) { call throws(Problem) in
        let receiver = try call.signalReceiver(SignalScope.read)
        return .json(
            .ok, shape.json(try await call.signalStream(call.text("stream_id"), of: receiver)))
    }

    private static let change = Route<RealmContext>(
        .post, path, id: "setSignalStreamStatus", tag: SignalAnswers.tag,
        summary: "Enables, pauses or disables a stream.",
        detail: """
            Needs the scope `ssf.manage`. A paused stream keeps everything for later, for as long as \
            it is paused; a disabled one has nothing of what happens meanwhile.
            """,
        right: .service, voice: .oauth, body: SignalAnswers.body(shape.example),
        answer: .ok("The status.", shape), refusals: SignalAnswers.faults
    ) { call throws(Problem) in
        let receiver = try call.signalReceiver(SignalScope.manage)
        let stream = try await call.namedSignalStream(of: receiver)
        guard let status = try call.signalText("status").flatMap(SignalStatus.init) else {
            throw Problem(
                .invalidField, "status must be enabled, paused or disabled.", field: "status")
        }
        try await Commands(call).dispatch(
            SignalStreamChange.setStatus(
                stream.id, client: receiver.client, status: status,
                reason: try call.signalText("reason", most: 200)), as: receiver.caller)
        let context = call.context
        if status == .enabled {
            try await reading { () throws(LogFailure) in
                try await context.queries.resumeSignals(
                    of: stream.id, in: context.place.realm, at: context.clock.now())
            }
        }
        return .json(
            .ok, shape.json(try await call.signalStream(stream.id.description, of: receiver)))
    }

    private static let shape = Shape<KnownSignalStream>(
        .required("stream_id", "Stream id.", \.id, example: .string(SignalAnswers.stream)),
        .required(
            "status", .oneOf(SignalStatus.allCases.map(\.rawValue)), "Status of the stream.",
            \.state.status.rawValue, example: "paused"),
        .optional(
            "reason", .text(1...200), "Reason of the last change of status.",
            \.state.statusReason, example: "Maintenance until noon"))
}

extension SignalStreamChange.SetStatusRejection: Refusal {
    var problem: Problem {
        switch self {
        case .notFound: Problem(.noSuchSignalStream)
        case .invalid(let fault): Problem(of: fault)
        }
    }
}
