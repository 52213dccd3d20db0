internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// Where receivers fetch their signals (RFC 8936).
enum SignalPollRoutes {
    static func table(_ pages: SignalPages?) -> [Route<RealmContext>] { [poll(pages)] }

    private static func poll(_ pages: SignalPages?) -> Route<RealmContext> {
        Route(
            .post, PathTemplate(stringLiteral: SignalMetadataRoutes.poll + "{stream_id}"),
            id: "pollSignals", tag: SignalAnswers.tag,
            summary: "Fetches signals of a stream, and confirms those that the receiver has.",
            detail: """
                Needs the scope `ssf.read`. What is not confirmed (`ack`) or refused (`setErrs`) comes \
                again. Without `returnImmediately` the answer waits for the next signal, for \
                \(Self.patience / .seconds(1)) seconds at most.
                """,
            right: .service, voice: .oauth,
            parameters: [
                Parameter(
                    "stream_id", in: .path, .text(1...255), "Stream id.",
                    example: .string(SignalAnswers.stream))
            ],
            body: SignalAnswers.body(["maxEvents": 10, "returnImmediately": true]),
            answer: .ok(
                "Signals, each by its `jti`.",
                .object(
                    .required(
                        "sets", .map(of: .text(1...65_536)), "Security event tokens by their `jti`."
                    ),
                    .optional(
                        "moreAvailable", .boolean,
                        "Whether more tokens wait; left out if there are none.")
                ),
                example: ["sets": [:], "moreAvailable": true]),
            refusals: SignalAnswers.faults
        ) { call throws(Problem) in
            let receiver = try call.signalReceiver(SignalScope.read)
            let stream = try await call.signalStream(call.required("stream_id"), of: receiver)
            guard stream.state.settings.delivery == .poll else {
                throw Problem(.noSuchSignalStream, "The signals of this stream are pushed.")
            }
            let request = try PollRequest(call.body)
            let poll = SignalPoll(call.context, try pages.present, stream)
            try await poll.settle(request)
            let found = try await poll.fetch(request)
            guard found.isEmpty, request.mayWait else {
                var response = Response(status: .ok, headers: Headers(), body: found.bytes)
                response.headers["Content-Type"] = "application/json"
                return response
            }
            var response = Response(
                status: .ok,
                stream: BodyStream { writer in
                    try await writer.write(try await poll.wait(request, for: patience))
                })
            response.headers["Content-Type"] = "application/json"
            return response
        }
    }

    static let patience = Duration.seconds(30)
}
