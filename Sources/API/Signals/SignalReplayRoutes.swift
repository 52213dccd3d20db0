internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// Where receivers have earlier signals sent once more: no part of SSF, but an extension of Urd.
enum SignalReplayRoutes {
    static let table: [Route<RealmContext>] = [replay]

    private static let replay = Route<RealmContext>(
        .post, PathTemplate(stringLiteral: SignalMetadataRoutes.replay), id: "replaySignals",
        tag: SignalAnswers.tag, summary: "Has earlier signals of a stream sent once more.",
        detail: """
            An extension of Urd. Needs the scope `ssf.manage`. `from` is the `txn` of the last signal that the \
            receiver is sure to have, or `0:0`: everything after it comes again, under the same `jti`. \
            What happened before the stream was made, or while it was disabled last, does not come: \
            the answer says where it begins.
            """,
        right: .service, voice: .oauth,
        body: SignalAnswers.body(
            ["stream_id": .string(SignalAnswers.stream), "from": "1:48211"]),
        answer: .ok(
            "Cursor at which the replay begins.",
            .object(
                .required("stream_id", Fields.id, "Stream id."),
                .required("from", .text(3...25), "Cursor behind which events are sent again.")),
            example: ["stream_id": .string(SignalAnswers.stream), "from": "1:48211"]),
        refusals: SignalAnswers.faults + [.positionLost]
    ) { call throws(Problem) in
        let receiver = try call.signalReceiver(SignalScope.manage)
        let stream = try await call.namedSignalStream(of: receiver)
        let (context, realm) = (call.context, call.context.place.realm)
        guard let from = try call.signalText("from", most: 25).flatMap(LogCursor.init) else {
            throw Problem(.invalidField, "from must be a cursor such as 1:48211.", field: "from")
        }
        let epochs = try await reading { () throws(LogFailure) in
            try await context.commands.events.page(
                from: from.position + 1, limit: 1, in: realm
            ).epochs
        }
        switch epochs.standing(of: from) {
        case .valid: break
        case .beyondHead:
            throw Problem(.invalidField, "from is beyond the head of the log.", field: "from")
        case .lost(let kept):
            throw Problem(lostBehind: kept, epoch: epochs.head.epoch, field: "from")
        }
        let start = max(from.position, stream.floor)
        try await Commands(call).dispatch(
            SignalStreamChange.replay(stream.id, client: receiver.client, after: start),
            as: receiver.caller)
        let place = LogCursor(epoch: epochs.head.epoch, position: start)
        return .json(
            .ok,
            ["stream_id": .string(stream.id.description), "from": .string(place.description)])
    }
}
