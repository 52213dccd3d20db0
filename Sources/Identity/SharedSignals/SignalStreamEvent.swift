public import EventSourcing
public import JSON
public import Values

/// What happens to a stream of signals to a client (OpenID Shared Signals Framework 1.0).
public enum SignalStreamEvent: Event {
    case created(SignalTerms, SignalSettings)
    case changed(SignalSettings)
    /// The mail tells the realm's contact that the transmitter changed it.
    case statusChanged(
        SignalStatus, reason: String?, by: SignalStatusOrigin, mail: UUID? = nil)
    /// Its key, not the subject itself: see `NamedSubject`.
    case subjectAdded(NamedSubject)
    case subjectRemoved(NamedSubject)
    /// What happened after a position of the log is sent again.
    case replayed(after: Int64)
    case deleted

    private static let settings: [EventField] = [
        .texts("requested", "Event types that the receiver asks for."),
        .text("method", "How the signals are delivered: the method's URN."),
        .text("endpoint", "Where they are pushed to.").optional,
        .text(
            "authorization", "Authorization header that they are pushed with.",
            .neverLeaves(.sealed)
        ).optional,
        .text("description", "What the receiver says of the stream.").optional,
    ]
    private static let named: EventField = .text(
        "subject", "Pseudonym of the subject: of a sub, or of a mail address.")

    public static let catalogue: [EventShape] = [
        EventShape(
            "ssf_stream.created", .audit, "A client made a stream of security signals for itself.",
            [
                .client, .clientID,
                .text("issuer", "Issuer of the signals."),
                .integer("slot", "Which of the client's streams it is."),
                .choice(
                    "default_subjects", DefaultSubjects.self,
                    "Whose signals it has before the receiver names any subject."),
            ], settings),
        EventShape(
            "ssf_stream.changed", .audit, "The receiver changed the stream's configuration.",
            settings),
        EventShape(
            "ssf_stream.status_changed", .audit, "The stream was enabled, paused or disabled.",
            [
                .choice("status", SignalStatus.self, "What becomes of its signals from now on."),
                .text("reason", "Why, in the words of the side that changed it.").optional,
                .choice("by", SignalStatusOrigin.self, "Which side changed it."),
                .uuid("mail", "Mail that tells the realm's contact.").optional,
            ]),
        EventShape(
            "ssf_stream.subject_added", .audit, "The receiver added a subject to the stream.",
            [named]),
        EventShape(
            "ssf_stream.subject_removed", .audit,
            "The receiver removed a subject from the stream.", [named]),
        EventShape(
            "ssf_stream.replayed", .audit, "The receiver asked for earlier signals once more.",
            [.integer("after", "Position of the log after which all is sent again.")]),
        EventShape("ssf_stream.deleted", .audit, "The stream was deleted."),
    ]

    public var name: String {
        switch self {
        case .created: "ssf_stream.created"
        case .changed: "ssf_stream.changed"
        case .statusChanged: "ssf_stream.status_changed"
        case .subjectAdded: "ssf_stream.subject_added"
        case .subjectRemoved: "ssf_stream.subject_removed"
        case .replayed: "ssf_stream.replayed"
        case .deleted: "ssf_stream.deleted"
        }
    }

    public var subject: UUID? { nil }

    /// Not personal data, but sealed like it: such secrets are stored nowhere in plain text.
    public func subject(in stream: UUID) -> UUID? { stream }

    public var fields: JSONObject {
        switch self {
        case .created(let terms, let settings):
            let fields: JSONObject = [
                "client": .uuid(terms.client), "client_id": .string(terms.clientID),
                "issuer": .string(terms.issuer), "slot": .integer(Int64(terms.slot)),
                "default_subjects": .string(terms.defaultSubjects.rawValue),
            ]
            return fields.merging(settings.fields) { own, _ in own }
        case .changed(let settings): return settings.fields
        case .statusChanged(let status, let reason, let origin, let mail):
            var fields: JSONObject = [
                "status": .string(status.rawValue), "by": .string(origin.rawValue),
            ]
            fields["reason"] = reason.map { .string($0) }
            fields["mail"] = mail.map { .uuid($0) }
            return fields
        case .subjectAdded(let subject), .subjectRemoved(let subject):
            return ["subject": .string(subject.key)]
        case .replayed(let after): return ["after": .integer(after)]
        case .deleted: return [:]
        }
    }

    public init?(name: String, fields: JSONObject) {
        switch name {
        case "ssf_stream.created":
            guard let terms = SignalTerms(recorded: fields),
                let settings = SignalSettings(recorded: fields)
            else { return nil }
            self = .created(terms, settings)
        case "ssf_stream.changed":
            guard let settings = SignalSettings(recorded: fields) else { return nil }
            self = .changed(settings)
        case "ssf_stream.status_changed":
            guard let status: SignalStatus = fields.choice("status"),
                let origin: SignalStatusOrigin = fields.choice("by")
            else { return nil }
            self = .statusChanged(
                status, reason: fields["reason"]?.string, by: origin, mail: fields.uuid("mail"))
        case "ssf_stream.subject_added", "ssf_stream.subject_removed":
            guard let subject = fields["subject"]?.string.flatMap(NamedSubject.init(key:)) else {
                return nil
            }
            self =
                name == "ssf_stream.subject_added"
                ? .subjectAdded(subject) : .subjectRemoved(subject)
        case "ssf_stream.replayed":
            guard let after = fields["after"]?.integer else { return nil }
            self = .replayed(after: after)
        case "ssf_stream.deleted": self = .deleted
        default: return nil
        }
    }
}

extension SignalTerms {
    fileprivate init?(recorded fields: JSONObject) {
        guard let client = fields.uuid("client"), let clientID = fields["client_id"]?.string,
            let issuer = fields["issuer"]?.string, let slot = fields["slot"]?.integer,
            let subjects: DefaultSubjects = fields.choice("default_subjects")
        else { return nil }
        self.init(
            client: client, clientID: clientID, issuer: issuer, slot: Int(clamping: slot),
            defaultSubjects: subjects)
    }
}

extension SignalSettings {
    fileprivate var fields: JSONObject {
        var fields: JSONObject = [
            "requested": .texts(requested), "method": .string(delivery.method),
        ]
        if case .push(let endpoint, let authorization) = delivery {
            fields["endpoint"] = .string(endpoint)
            fields["authorization"] = authorization.map { .string($0) }
        }
        fields["description"] = description.map { .string($0) }
        return fields
    }

    fileprivate init?(recorded fields: JSONObject) {
        guard let requested = fields.texts("requested"), let method = fields["method"]?.string
        else { return nil }
        let delivery: SignalDelivery
        switch method {
        case SignalDelivery.pollMethod: delivery = .poll
        case SignalDelivery.pushMethod:
            guard let endpoint = fields["endpoint"]?.string else { return nil }
            delivery = .push(
                endpoint: endpoint, authorization: fields["authorization"]?.string)
        default: return nil
        }
        self.init(
            requested: requested, delivery: delivery,
            description: fields["description"]?.string)
    }
}
