public import EventSourcing
internal import JSON
internal import Values

/// What the events of the log are as security events of CAEP 1.0 and RISC 1.0.
public enum SharedSignals {
    /// The types that Urd may send, as a transmitter lists them.
    public static let supported: [String] = SignalKind.allCases.map(\.uri)

    /// The types of the log of which any receiver may be told.
    public static let eventTypes: [String] =
        SignalTable.rules.filter { !$0.value.isEmpty }.map(\.key).sorted()

    /// Claims whose new values a signal of this event may tell. Empty for most.
    public static func changedClaims(of event: String) -> [String] {
        SignalTable.rules(for: event).flatMap { rule -> [String] in
            guard case .claims(let names) = rule.content else { return [] }
            return names
        }
    }

    /// The signals that an event amounts to, in the order of its table; each is a token of its own.
    public static func signals(
        for event: Recorded, knowing facts: SignalFacts = SignalFacts()
    ) -> [Signal] {
        SignalTable.rules(for: event.name).filter { holds($0.condition, event, facts) }
            .compactMap { signal(event, $0, facts) }
    }

    private static func signal(
        _ event: Recorded, _ rule: SignalRule, _ facts: SignalFacts
    ) -> Signal? {
        guard let claims = claims(event, rule.content, facts) else { return nil }
        let reason = event.open["reason"]?.string
        return Signal(
            kind: rule.kind, claims: claims, subject: subject(event, rule.subject, facts),
            initiator: SignalInitiator(actor: event.actor, reason: reason),
            reason: reason.map { "\(event.name): \($0)" } ?? event.name,
            at: event.open.instant("opened_at") ?? event.at, isOnRequest: rule.isOnRequest)
    }

    private static func holds(
        _ condition: SignalRule.Condition, _ event: Recorded, _ facts: SignalFacts
    ) -> Bool {
        switch condition {
        case .always: true
        case .unlessReplaced:
            event.open["reason"]?.string != BrowserSessionEnd.replaced.rawValue
        case .ofAnAccount: account(event, facts) != nil
        case .forPassphraseReset:
            event.open["purpose"]?.string == MailedLink.Purpose.passphraseReset.rawValue
        case .ifLevelDiffers:
            facts.formerFactors.map {
                AssuranceLevel($0).rank != AssuranceLevel(factors(event)).rank
            } ?? false
        case .ifRiskDiffers:
            (try? Field.risk.read(event.open)).map { $0.former != $0.now } ?? false
        case .withClaims:
            changedClaims(of: event.name).contains { facts.claims[$0] != nil }
        }
    }

    private static func subject(
        _ event: Recorded, _ about: SignalRule.Subject, _ facts: SignalFacts
    ) -> SignalSubject {
        let user = account(event, facts)
        return switch about {
        case .user: SignalSubject(user: user, session: nil, device: nil)
        case .session: SignalSubject(user: user, session: event.stream, device: nil)
        case .device where event.open.uuid("browser") != nil:
            SignalSubject(user: user, session: event.open.uuid("browser"), device: nil)
        case .device:
            SignalSubject(
                user: user, session: nil,
                device: event.open.uuid("client") ?? event.open.uuid("federated_device")
                    ?? event.stream)
        }
    }

    private static func account(_ event: Recorded, _ facts: SignalFacts) -> UUID? {
        event.namedAccount ?? facts.account
    }

    private static func factors(_ event: Recorded) -> [String] {
        event.open.texts("amr") ?? []
    }

    /// Nil where a claim that the type requires is not known.
    private static func claims(
        _ event: Recorded, _ content: SignalRule.Content, _ facts: SignalFacts
    ) -> JSONObject? {
        switch content {
        case .none: return [:]
        case .claims(let names):
            return ["claims": .object(facts.claims.filter { names.contains($0.key) })]
        case .credential(let kind, let change):
            return credential(kind, change, event, facts)
        case .authentication:
            var claims: JSONObject = [:]
            let factors = factors(event)
            if !factors.isEmpty { claims["amr"] = .texts(factors) }
            let browser =
                event.name == BrowserSessionEvent.Form.opened.name
                ? event.stream : event.open.uuid("browser")
            claims["ext_id"] = browser.map { .uuid($0) }
            return claims
        case .assuranceLevel:
            guard let former = facts.formerFactors.map(AssuranceLevel.init) else { return nil }
            let level = AssuranceLevel(factors(event))
            return [
                "namespace": "RFC8176", "current_level": .string(level.name),
                "previous_level": .string(former.name),
                "change_direction": former.rank < level.rank ? "increase" : "decrease",
            ]
        case .compliance(let isNow):
            let states: [JSON] = ["not-compliant", "compliant"]
            return [
                "previous_status": states[isNow ? 0 : 1], "current_status": states[isNow ? 1 : 0],
            ]
        case .risk: return risk(event)
        }
    }

    private static func risk(_ event: Recorded) -> JSONObject? {
        guard let risk = try? Field.risk.read(event.open),
            let rule: FindingRule = event.open.choice("rule")
        else { return nil }
        return [
            "principal": "USER", "current_level": .string(risk.now.rawValue.uppercased()),
            "previous_level": .string(risk.former.rawValue.uppercased()),
            "risk_reason": .string(rule.sentence),
        ]
    }

    private static func credential(
        _ kind: CredentialKind, _ change: CredentialChange, _ event: Recorded,
        _ facts: SignalFacts
    ) -> JSONObject {
        let changed: CredentialChange =
            change != .set ? change : facts.hadPassphrase ?? (event.version > 1) ? .update : .create
        var claims: JSONObject = ["change_type": .string(changed.rawValue)]
        guard kind == .passkey else {
            claims["credential_type"] = .string(kind.rawValue)
            return claims
        }
        let transports = Set(event.open.texts("transports") ?? []).union(facts.transports)
        let isPlatform =
            transports.contains("internal") && transports.isDisjoint(with: ["usb", "nfc", "ble"])
        claims["credential_type"] = isPlatform ? "fido2-platform" : "fido2-roaming"
        claims["fido2_aaguid"] = event.open["model"]
        return claims
    }
}

extension Recorded {
    /// The account that the event is about, as far as it says so itself.
    var namedAccount: UUID? {
        name.hasPrefix("account.") ? stream : open.uuid("account")
    }
}

/// The strongest of the factors of a sign-in (names of RFC 8176).
private struct AssuranceLevel {
    let name: String
    let rank: Int

    init(_ factors: [String]) {
        let strongest: [AuthenticationFactor] = [.multiple, .passkey]
        let index = strongest.firstIndex { factors.contains($0.rawValue) }
        name = index.map { strongest[$0].rawValue } ?? factors.first ?? "unknown"
        rank = index.map { strongest.count - $0 } ?? 0
    }
}
