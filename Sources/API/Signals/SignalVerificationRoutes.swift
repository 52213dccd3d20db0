internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// Where receivers have a stream tried (SSF 1.0 section 8.1.4).
enum SignalVerificationRoutes {
    static func table(_ pages: SignalPages?) -> [Route<RealmContext>] { [verify(pages)] }

    private static func verify(_ pages: SignalPages?) -> Route<RealmContext> {
        Route(
            .post, PathTemplate(stringLiteral: SignalMetadataRoutes.verification),
            id: "verifySignalStream", tag: SignalAnswers.tag,
            summary: "Has a verification event sent, with the state that is given.",
            detail: "Needs the scope `ssf.manage`. As often as `min_verification_interval` allows.",
            right: .service, voice: .oauth,
            body: SignalAnswers.body(
                ["stream_id": .string(SignalAnswers.stream), "state": "VGhpcyBpcyBhbiBleGFtcGxl"]),
            answer: .done("It is on its way."),
            refusals: SignalAnswers.faults + [.askedTooOften]
        ) { call throws(Problem) in
            let receiver = try call.signalReceiver(SignalScope.manage)
            let stream = try await call.namedSignalStream(of: receiver)
            // What is given comes back, an empty text too.
            let state =
                call.body["state"]?.string == "" ? "" : try call.signalText("state", most: 1_024)
            // A disabled stream holds nothing.
            if stream.state.status != .disabled {
                try await call.queueVerification(of: stream, state, try pages.present)
            }
            return Response(status: .noContent)
        }
    }
}

extension Call<RealmContext> {
    fileprivate func queueVerification(
        of stream: KnownSignalStream, _ state: String?, _ pages: SignalPages
    ) async throws(Problem) {
        let (context, realm) = (context, context.place.realm)
        let id = context.newID()
        let interval = context.place.settings[SettingCatalogue.signalVerification]
        let isAsked = try await reading { () throws(LogFailure) in
            // The stream has a place before anything is put there.
            if stream.state.status == .enabled {
                _ = try await SignalReader(context, pages).prepare(stream, in: realm)
            }
            let head = try await context.commands.events.head(of: realm)
            return try await context.queries.verifySignals(
                of: stream.id, in: realm,
                by: PendingSignal(
                    jti: Base64URL.encode(id.bytes), position: head.position,
                    type: SignalOffer.verification, state: state, issuedAt: context.clock.now()),
                atLeastAfter: interval)
        }
        guard !isAsked else {
            pages.ring(stream.id)
            return
        }
        var problem = Problem(
            .askedTooOften, "A stream is verified once in \(interval) seconds at most.")
        problem.headers.append(("Retry-After", String(interval)))
        throw problem
    }
}
