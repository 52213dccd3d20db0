internal import EventSourcing
internal import Identity
internal import JSON
internal import Values

/// What a record of OCSF's class Authentication says of a sign-in, a session or a step on the way.
struct OCSFSignIn: Sendable {
    private let envelope: EventEnvelope
    private let rule: OCSFRule

    init(_ envelope: EventEnvelope, _ rule: OCSFRule) {
        self.envelope = envelope
        self.rule = rule
    }

    private var event: Recorded { envelope.event }
    private var fields: JSONObject { event.open }
    private var isOnPage: Bool { event.name.hasPrefix("browser.") }
    private var isOfSession: Bool { isOnPage || event.name.hasPrefix("session.") }

    var members: JSONObject {
        var members: JSONObject = [
            "service": [
                "name": .string(event.realm.name), "uid": .string(envelope.issuer),
            ],
            "is_remote": true,
        ]
        let factors = (fields["amr"]?.array ?? []).compactMap(\.string)
        if !factors.isEmpty {
            members["is_mfa"] = .bool(isMultiple(factors))
            members["auth_factors"] = .array(factors.compactMap(Self.factor))
        } else if let factor = rule.factor {
            members["auth_factors"] = [.object(OCSFEvent.factor(factor))]
        }
        if let method = fields["method"]?.string { members.merge(way(method)) { $1 } }
        if isOfSession, rule.status == .success { members["session"] = .object(session(factors)) }
        if rule.activity == 7 { members["account_switch_type_id"] = 2 }
        if event.name == SessionEvent.Form.opened.name, rule.activity == 1 {
            members["is_new_logon"] = .bool(fields["exchanged"] == nil)
        }
        return members
    }

    private func way(_ method: String) -> JSONObject {
        let isOpenID = method == GrantType.authorizationCode.rawValue
        let isSAML = method == AppSignInMethod.saml.rawValue
        // No protocol that OCSF has a number for.
        let isOwn = isOnPage || !isSAML && AppSignInMethod(rawValue: method) != nil
        var way: JSONObject = ["logon_type_id": isOnPage ? 2 : 3]
        way["auth_protocol_id"] = isOwn ? 99 : isSAML ? 5 : isOpenID ? 4 : 6
        if isOwn { way["auth_protocol"] = .string(method) }
        return way
    }

    private func session(_ factors: [String]) -> JSONObject {
        var session: JSONObject = [
            "uid": .string(event.stream.description), "issuer": .string(envelope.issuer),
        ]
        if !factors.isEmpty { session["is_mfa"] = .bool(isMultiple(factors)) }
        session["created_time"] = fields["opened_at"]?.integer.map(Self.ofSeconds)
        session["expiration_time"] = fields["expires_at"]?.integer.map(Self.ofSeconds)
        session["expiration_reason"] = rule.activity == 2 ? fields["reason"] : nil
        return session
    }

    private func isMultiple(_ factors: [String]) -> Bool {
        factors.contains(AuthenticationFactor.multiple.rawValue)
    }

    private static func ofSeconds(_ seconds: Int64) -> JSON {
        .integer(Timestamp(seconds: seconds).milliseconds)
    }

    /// `mfa` is no factor of its own.
    private static func factor(_ name: String) -> JSON? {
        switch AuthenticationFactor(rawValue: name) {
        case .mailedCode?: .object(OCSFEvent.factor(7))
        case .mailedLink?: .object(OCSFEvent.factor(8))
        case .passkey?: .object(OCSFEvent.factor(10))
        case .passphrase?: .object(OCSFEvent.factor(11))
        case .pin?: .object(OCSFEvent.factor(11))
        case .deviceKey?, .biometric?: .object(OCSFEvent.factor(10))
        case .provider?: ["factor_type_id": 99, "factor_type": "fed"]
        case .multiple?: nil
        case nil: ["factor_type_id": 99, "factor_type": .string(name)]
        }
    }
}
