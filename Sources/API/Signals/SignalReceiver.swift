internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// The client that a request about its own streams comes from.
struct SignalReceiver: Sendable {
    let client: UUID
    let clientID: String

    var caller: Commands.Caller { .client(clientID) }
}

extension Call<RealmContext> {
    /// The client, where its token reaches that far.
    func signalReceiver(_ needed: String) throws(Problem) -> SignalReceiver {
        guard case .service(let session, let scopes, _) = caller else {
            throw Problem(.unauthenticated)
        }
        guard scopes.contains(SignalScope.manage) || scopes.contains(needed) else {
            throw Problem(.insufficientScope, "The token needs the scope \(needed).")
        }
        return SignalReceiver(client: session.terms.client, clientID: session.terms.clientID)
    }

    /// A stream of the receiver's own. Streams of other clients are not found.
    func signalStream(
        _ id: String?, of receiver: SignalReceiver
    ) async throws(Problem) -> KnownSignalStream {
        guard let id = id.flatMap({ UUID($0) }) else { throw Problem(.noSuchSignalStream) }
        let stream = try await reading { () throws(LogFailure) in
            try await context.commands.events.signalStream(id, in: context.place.realm)
        }
        guard let stream, stream.terms.client == receiver.client else {
            throw Problem(.noSuchSignalStream)
        }
        return stream
    }

    /// A text of the body; nil where there is none. Some receivers say nothing by an empty one.
    func signalText(_ name: String, most: Int = 255) throws(Problem) -> String? {
        guard let value = body[name], !value.isNull, value.string != "" else { return nil }
        guard let text = value.string, text.unicodeScalars.count <= most else {
            throw Problem(.invalidField, "\(name) is no text of this length.", field: name)
        }
        return text
    }

    /// The stream that the body names.
    func namedSignalStream(of receiver: SignalReceiver) async throws(Problem) -> KnownSignalStream {
        guard let id = try signalText("stream_id") else {
            throw Problem(.missingField, "stream_id is required.", field: "stream_id")
        }
        return try await signalStream(id, of: receiver)
    }
}
