internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// Where receivers make, read, change and delete their streams (SSF 1.0 section 8.1.1).
enum SignalStreamRoutes {
    static func table(_ pages: SignalPages?) -> [Route<RealmContext>] {
        [create(pages), read, update, replace, delete]
    }

    private static let path = PathTemplate(stringLiteral: SignalMetadataRoutes.streams)

    private static func streamID(required: Bool) -> Parameter {
        Parameter(
            "stream_id", in: .query, .text(1...255), required: required, "Stream id.",
            example: .string(SignalAnswers.stream))
    }

    private static func create(_ pages: SignalPages?) -> Route<RealmContext> {
        Route(
            .post, path, id: "createSignalStream", tag: SignalAnswers.tag,
            summary: "Creates a stream of security signals for the client.",
            detail: """
                Needs the scope `ssf.manage`. Without `delivery` the signals are polled. Event types that \
                are not known here are ignored: `events_delivered` says what is sent.
                """,
            right: .service, voice: .oauth,
            body: SignalAnswers.body(SignalStreamDocument.exampleSettings),
            answer: Answer(
                status: .created, description: "The stream.",
                content: .json(SignalStreamDocument.shape)),
            refusals: SignalAnswers.faults + [.tooManySignalStreams]
        ) { call throws(Problem) in
            let pages = try pages.present
            let receiver = try call.signalReceiver(SignalScope.manage)
            let settings = try SignalStreamDocument.settings(in: call.body, keeping: nil)
            let id = try await call.createSignalStream(settings, for: receiver)
            let stream = try await call.signalStream(id.description, of: receiver)
            // From its first look at the log on it has a place there.
            let context = call.context
            _ = try await reading { () throws(LogFailure) in
                try await SignalReader(context, pages).prepare(stream, in: context.place.realm)
            }
            return .json(.created, SignalStreamDocument(stream, at: call.context.place).json)
        }
    }

    private static let read = Route<RealmContext>(
        .get, path, id: "getSignalStreams", tag: SignalAnswers.tag,
        summary: "Shows a stream of the client, or lists all of them.",
        detail: "Needs the scope `ssf.read`. Without `stream_id`, the answer is a list.",
        right: .service, voice: .oauth, parameters: [streamID(required: false)],
        answer: .ok(
            "The stream, or a list.", .anything, example: SignalStreamDocument.shape.example),
        refusals: SignalAnswers.faults
    ) { call throws(Problem) in
        let receiver = try call.signalReceiver(SignalScope.read)
        if let id = call.text("stream_id") {
            let stream = try await call.signalStream(id, of: receiver)
            return .json(.ok, SignalStreamDocument(stream, at: call.context.place).json)
        }
        let context = call.context
        let known = try await context.ask(SignalStreamView.ofClient, receiver.client)
        var streams: [JSON] = []
        for view in known {
            let stream = try await reading { () throws(LogFailure) in
                try await context.commands.events.signalStream(view.id, in: context.place.realm)
            }
            guard let stream else { continue }
            streams.append(SignalStreamDocument(stream, at: context.place).json)
        }
        return .json(.ok, .array(streams))
    }

    private static let update = change(
        .patch, id: "updateSignalStream", "Changes the members of a stream that are given.",
        keeps: true)

    private static let replace = change(
        .put, id: "replaceSignalStream",
        "Replaces all that the receiver has said of a stream.", keeps: false)

    private static func change(
        _ method: Method, id: String, _ summary: String, keeps: Bool
    ) -> Route<RealmContext> {
        Route(
            method, path, id: id, tag: SignalAnswers.tag, summary: summary,
            detail: """
                Needs the scope `ssf.manage`. What is the transmitter's to say may only be repeated, and so \
                may `default_subjects`. \
                An `authorization_header` that is left out stays, as long as the endpoint does.
                """,
            right: .service, voice: .oauth,
            body: SignalAnswers.body(["stream_id": .string(SignalAnswers.stream)]),
            answer: .ok("The stream.", SignalStreamDocument.shape),
            refusals: SignalAnswers.faults
        ) { call throws(Problem) in
            let receiver = try call.signalReceiver(SignalScope.manage)
            let stream = try await call.namedSignalStream(of: receiver)
            try SignalStreamDocument(stream, at: call.context.place).check(call.body)
            let current = stream.state.settings
            let base = keeps ? current : SignalSettings(delivery: current.delivery)
            var settings = try SignalStreamDocument.settings(in: call.body, keeping: base)
            if !keeps, call.body["delivery"]?.object == nil { settings.delivery = .poll }
            try await Commands(call).dispatch(
                SignalStreamChange.change(stream.id, client: receiver.client, settings: settings),
                as: receiver.caller)
            let changed = try await call.signalStream(stream.id.description, of: receiver)
            return .json(.ok, SignalStreamDocument(changed, at: call.context.place).json)
        }
    }

    private static let delete = Route<RealmContext>(
        .delete, path, id: "deleteSignalStream", tag: SignalAnswers.tag,
        summary: "Deletes a stream; nothing more is sent.",
        detail: "Needs the scope `ssf.manage`.", right: .service, voice: .oauth,
        parameters: [streamID(required: true)],
        answer: .done("The stream is deleted."),
        refusals: SignalAnswers.faults
    ) { call throws(Problem) in
        let receiver = try call.signalReceiver(SignalScope.manage)
        let stream = try await call.signalStream(call.text("stream_id"), of: receiver)
        try await Commands(call).dispatch(
            SignalStreamChange.delete(stream.id, client: receiver.client), as: receiver.caller)
        let context = call.context
        try await reading { () throws(LogFailure) in
            try await context.queries.forgetSignals(of: stream.id, in: context.place.realm)
        }
        return Response(status: .noContent)
    }
}

extension Call<RealmContext> {
    /// In the first slot that is free: of requests at once that choose the same, one has to choose again.
    fileprivate func createSignalStream(
        _ settings: SignalSettings, for receiver: SignalReceiver
    ) async throws(Problem) -> UUID {
        let subjects: DefaultSubjects
        switch body["default_subjects"]?.string {
        case nil: subjects = .all
        case let name?:
            guard let chosen = DefaultSubjects(rawValue: name) else {
                throw Problem(
                    .invalidField, "default_subjects must be ALL or NONE.",
                    field: "default_subjects")
            }
            subjects = chosen
        }
        for _ in 0...SignalTerms.mostPerClient {
            let known = try await context.ask(SignalStreamView.ofClient, receiver.client)
            let free = (0..<SignalTerms.mostPerClient).filter { slot in
                !known.contains { $0.slot == slot }
            }
            guard let slot = free.first else { break }
            let id = context.newID()
            let terms = SignalTerms(
                client: receiver.client, clientID: receiver.clientID,
                issuer: context.place.issuer, slot: slot, defaultSubjects: subjects)
            let rejection = try await Commands(self).attempt(
                CreateSignalStream(id: id, terms: terms, settings: settings), as: receiver.caller)
            switch rejection {
            case nil: return id
            case .slotTaken?, .idTaken?: continue
            case .notAllowed?: throw Problem(.forbidden)
            case .invalid(let fault)?: throw Problem(of: fault)
            }
        }
        throw Problem(.tooManySignalStreams)
    }
}

extension SignalStreamChange.ChangeRejection: Refusal {
    var problem: Problem {
        switch self {
        case .notFound: Problem(.noSuchSignalStream)
        case .invalid(let fault): Problem(of: fault)
        }
    }
}

extension SignalStream: NotFoundProblem { static var missing: ProblemKind { .noSuchSignalStream } }
