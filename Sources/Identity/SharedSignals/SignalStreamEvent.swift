public import EventSourcing
internal import JSON
public import Values

/// What happens to a stream of signals to a client (OpenID Shared Signals Framework 1.0).
public enum SignalStreamEvent: FormedEvent {
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

    package enum Form {
        package static let created = EventForm(
            "ssf_stream.created", .audit, .object(.created),
            "A client made a stream of security signals for itself.", .terms, .settings,
            make: SignalStreamEvent.created)
        package static let changed = EventForm(
            "ssf_stream.changed", .audit, .object(.updated),
            "The receiver changed the stream's configuration.", .settings,
            make: SignalStreamEvent.changed)
        package static let statusChanged = EventForm(
            "ssf_stream.status_changed", .audit, .object(.other),
            "The stream was enabled, paused or disabled.",
            .choice("status", "New status of the stream."),
            .optional(.text("reason", "Reason that was given for the change.")),
            .choice("by", "Side that changed the status."),
            .optional(.uuid("mail", "Mail that tells the realm's contact.")),
            make: SignalStreamEvent.statusChanged)
        package static let subjectAdded = EventForm(
            "ssf_stream.subject_added", .audit, .object(.other),
            "The receiver added a subject to the stream.", .named,
            make: SignalStreamEvent.subjectAdded)
        package static let subjectRemoved = EventForm(
            "ssf_stream.subject_removed", .audit, .object(.other),
            "The receiver removed a subject from the stream.", .named,
            make: SignalStreamEvent.subjectRemoved)
        package static let replayed = EventForm(
            "ssf_stream.replayed", .audit, .object(.other),
            "The receiver asked for earlier signals once more.",
            .integer("after", "Position of the log after which all is sent again."),
            make: SignalStreamEvent.replayed)
        package static let deleted = EventForm(
            "ssf_stream.deleted", .audit, .object(.removed), "The stream was deleted.",
            make: { SignalStreamEvent.deleted })
    }

    public static let forms: EventForms<Self> = [
        Form.created, Form.changed, Form.statusChanged, Form.subjectAdded, Form.subjectRemoved,
        Form.replayed, Form.deleted,
    ]

    /// Not personal data, but sealed like it: such secrets are stored nowhere in plain text.
    public func subject(in stream: UUID) -> UUID? { stream }

    public var written: WrittenEvent {
        switch self {
        case .created(let terms, let settings): Form.created(terms, settings)
        case .changed(let settings): Form.changed(settings)
        case .statusChanged(let status, let reason, let origin, let mail):
            Form.statusChanged(status, reason, origin, mail)
        case .subjectAdded(let subject): Form.subjectAdded(subject)
        case .subjectRemoved(let subject): Form.subjectRemoved(subject)
        case .replayed(let after): Form.replayed(after)
        case .deleted: Form.deleted()
        }
    }
}

extension Field<NamedSubject> {
    fileprivate static let named = mapped(
        .text("subject", "Pseudonym of the subject: of a sub, or of a mail address."),
        write: \.key, read: { NamedSubject(key: $0) })
}

extension Field<SignalTerms> {
    fileprivate static let terms = record(
        .client, .clientID, .text("issuer", "Issuer of the signals."),
        .number("slot", "Which of the client's streams it is."),
        .choice(
            "default_subjects", "Whose signals it has before the receiver names any subject."),
        make: {
            SignalTerms(client: $0, clientID: $1, issuer: $2, slot: $3, defaultSubjects: $4)
        },
        take: { ($0.client, $0.clientID, $0.issuer, $0.slot, $0.defaultSubjects) })
}

extension Field<SignalSettings> {
    fileprivate static let settings = whole(
        [
            .texts("requested", "Event types that the receiver asks for."),
            .text("method", "How the signals are delivered: the method's URN."),
            .text("endpoint", "URL that the signals are pushed to.").optional,
            .text(
                "authorization", "Authorization header that they are pushed with.",
                .neverLeaves(.sealed)
            ).optional,
            .text("description", "Description of the stream by its receiver.").optional,
        ], write: \.fields, read: { SignalSettings(recorded: $0) })
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
