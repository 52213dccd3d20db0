internal import EventSourcing
internal import Identity
internal import JOSE
internal import JSON
internal import ReadModels
internal import Values

/// Signed security events (RFC 8417): one event a token, with neither `sub` nor `exp`.
extension SignalReader {
    /// A signal, ready to be sent. One whose event says nothing to the receiver any more has none.
    struct Ready: Sendable {
        let signal: PendingSignal
        let token: String
    }

    func tokens(
        for pending: [PendingSignal], of stream: KnownSignalStream, in realm: RealmID
    ) async throws(LogFailure) -> (ready: [Ready], pointless: [String]) {
        guard !pending.isEmpty else { return ([], []) }
        let addressee = try await addressee(of: stream, in: realm)
        guard let key = try await keys.keys(of: realm).active[.rs256] else { throw .damaged }
        let (epochs, sources) = try await pages.sources(
            at: Set(pending.filter { $0.account != nil }.map(\.position)), in: realm)
        var (ready, pointless): ([Ready], [String]) = ([], [])
        for signal in pending {
            let source = sources[signal.position]
            guard let content = try await content(of: signal, source, for: addressee) else {
                pointless.append(signal.jti)
                continue
            }
            let place = LogCursor(
                epoch: epochs.epoch(of: signal.position), position: signal.position)
            let claims: JSON = [
                "iss": .string(stream.terms.issuer), "aud": .string(stream.terms.clientID),
                "iat": .integer(signal.issuedAt.seconds), "jti": .string(signal.jti),
                "txn": .string(place.description), "sub_id": content.subject,
                "events": .object([signal.type: .object(content.claims)]),
            ]
            guard
                let token = try? JWS.sign(
                    claims.canonical(), by: key, type: JWTType.securityEvent.rawValue)
            else { throw .damaged }
            ready.append(Ready(signal: signal, token: token))
        }
        return (ready, pointless)
    }

    private struct Content {
        let subject: JSON
        let claims: JSONObject
    }

    private func content(
        of signal: PendingSignal, _ source: SignalSource?, for addressee: SignalAddressee
    ) async throws(LogFailure) -> Content? {
        guard signal.account != nil else { return ofStream(signal, addressee) }
        guard let source else { throw .damaged }
        let found = try await signals(of: source, for: addressee).first {
            $0.kind.uri == signal.type
        }
        guard let found else { return nil }
        var claims = found.claims
        if found.kind.standard == .caep {
            claims["event_timestamp"] = .integer(found.at.seconds)
            claims["initiating_entity"] = .string(found.initiator.rawValue)
            claims["reason_admin"] = ["en": .string(found.reason)]
        }
        return Content(subject: subject(found.subject, addressee), claims: claims)
    }

    /// What is said of the stream itself. Nil where the event that it comes of was lost.
    private func ofStream(_ signal: PendingSignal, _ addressee: SignalAddressee) -> Content? {
        var claims: JSONObject = [:]
        if signal.type == SignalOffer.streamUpdated {
            let notice = addressee.stream.notices.first {
                $0.position == signal.position && $0.type == signal.type
            }
            guard notice != nil || signal.state != nil else { return nil }
            let status = notice?.status ?? addressee.stream.state.status
            claims["status"] = .string(status.rawValue)
            claims["reason"] = (signal.state ?? notice?.reason).map { .string($0) }
        } else {
            claims["state"] = signal.state.map { .string($0) }
        }
        return Content(subject: Self.opaque(addressee.stream.id.description), claims: claims)
    }

    /// RFC 9493, and SSF 1.0 section 3.3 where a session or a device of the user is meant.
    private func subject(_ subject: SignalSubject, _ addressee: SignalAddressee) -> JSON {
        let user = subject.user.map { account -> JSON in
            [
                "format": "iss_sub", "iss": .string(addressee.stream.terms.issuer),
                "sub": .string(addressee.sub(of: account)),
            ]
        }
        if let user, subject.session == nil, subject.device == nil { return user }
        var members: JSONObject = [
            "format": "complex", "tenant": Self.opaque(addressee.realm.name),
        ]
        members["user"] = user
        members["session"] = subject.session.map { Self.opaque($0.description) }
        members["device"] = subject.device.map { Self.opaque($0.description) }
        return .object(members)
    }

    private static func opaque(_ id: String) -> JSON { ["format": "opaque", "id": .string(id)] }
}
