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
        var (ready, pointless): ([Ready], [String]) = ([], [])
        var recorded: [Int64: Recorded] = [:]
        for signal in pending {
            guard let body = try await content(of: signal, for: addressee, &recorded) else {
                pointless.append(signal.jti)
                continue
            }
            let claims: JSON = [
                "iss": .string(stream.terms.issuer), "aud": .string(stream.terms.clientID),
                "iat": .integer(signal.issuedAt.seconds), "jti": .string(signal.jti),
                "txn": .string(body.transaction), "sub_id": body.subject,
                "events": .object([signal.type: .object(body.claims)]),
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
        let transaction: String
    }

    private func content(
        of signal: PendingSignal, for addressee: SignalAddressee,
        _ recorded: inout [Int64: Recorded]
    ) async throws(LogFailure) -> Content? {
        guard signal.account != nil else { return ofStream(signal, addressee) }
        let event = try await event(at: signal.position, addressee.realm, &recorded)
        let found = try await signals(of: event, for: addressee).first {
            $0.kind.uri == signal.type
        }
        guard let found, let account = found.subject.user else { return nil }
        var claims = found.claims
        if found.kind.standard == .caep {
            claims["event_timestamp"] = .integer(found.at.seconds)
            claims["initiating_entity"] = .string(found.initiator.rawValue)
            claims["reason_admin"] = ["en": .string(found.reason)]
        }
        return Content(
            subject: subject(found.subject, account, addressee), claims: claims,
            transaction: event.command.description)
    }

    /// What is said of the stream itself.
    private func ofStream(_ signal: PendingSignal, _ addressee: SignalAddressee) -> Content? {
        var claims: JSONObject = [:]
        if signal.type == SignalOffer.streamUpdated {
            let notice = addressee.stream.notices.first {
                $0.position == signal.position && $0.type == signal.type
            }
            claims["status"] = notice?.status.map { .string($0.rawValue) }
            claims["reason"] = notice?.reason.map { .string($0) }
        } else {
            claims["state"] = signal.state.map { .string($0) }
        }
        return Content(
            subject: Self.opaque(addressee.stream.id.description), claims: claims,
            transaction: signal.jti)
    }

    /// RFC 9493, and SSF 1.0 section 3.3 where a session or a device of the user is meant.
    private func subject(
        _ subject: SignalSubject, _ account: UUID, _ addressee: SignalAddressee
    ) -> JSON {
        let user: JSON = [
            "format": "iss_sub", "iss": .string(addressee.stream.terms.issuer),
            "sub": .string(addressee.sub(of: account)),
        ]
        guard subject.session != nil || subject.device != nil else { return user }
        var members: JSONObject = [
            "format": "complex", "user": user, "tenant": Self.opaque(addressee.realm.name),
        ]
        members["session"] = subject.session.map { Self.opaque($0.description) }
        members["device"] = subject.device.map { Self.opaque($0.description) }
        return .object(members)
    }

    private static func opaque(_ id: String) -> JSON { ["format": "opaque", "id": .string(id)] }

    /// Neighbours are read together: what is delivered stands close together in the log.
    private func event(
        at position: Int64, _ realm: RealmID, _ recorded: inout [Int64: Recorded]
    ) async throws(LogFailure) -> Recorded {
        if let known = recorded[position] { return known }
        recorded = [:]
        for event in try await events.events(from: position, limit: 32, in: realm) {
            recorded[event.position] = event
        }
        guard let event = recorded[position] else { throw .damaged }
        return event
    }
}
