internal import Identity
internal import JSON
internal import Values

/// A stream as its receiver sees it and says it (SSF 1.0 section 8.1.1). The header that signals are
/// pushed with is taken and never shown.
struct SignalStreamDocument {
    let stream: KnownSignalStream
    /// Seconds between two verifications that a receiver asks for.
    let verificationInterval: Int64

    init(_ stream: KnownSignalStream, at place: Place) {
        self.stream = stream
        verificationInterval = place.settings[SettingCatalogue.signalVerification]
    }

    /// Seconds after which a stream that is not polled is paused.
    static let inactivityTimeout: Int64 = 30 * 86_400

    var json: JSON { Self.shape.json(self) }

    /// Members that are the transmitter's: a receiver may only repeat them.
    private static let own = [
        "iss", "aud", "events_supported", "events_delivered", "min_verification_interval",
        "inactivity_timeout",
    ]

    /// Refuses another value of what is not the receiver's to say.
    func check(_ body: JSON) throws(Problem) {
        for name in Self.own {
            guard let value = body[name], !value.isNull, value != json[name] else { continue }
            // One audience may stand as a text or as a list of one.
            if name == "aud", value == [.string(stream.terms.clientID)] { continue }
            throw Problem(
                .invalidField, "\(name) is the transmitter's to set.", field: name)
        }
        let subjects = body["default_subjects"] ?? .null
        guard subjects.isNull || subjects.string == stream.terms.defaultSubjects.rawValue else {
            throw Problem(
                .invalidField, "default_subjects is said when a stream is made, and stays.",
                field: "default_subjects")
        }
    }

    // MARK: - What a receiver says

    /// The settings in a body. What is missing stays as it is in `current`, where one is given.
    static func settings(
        in body: JSON, keeping current: SignalSettings?
    ) throws(Problem) -> SignalSettings {
        var settings = current ?? SignalSettings()
        if let requested = body["events_requested"], !requested.isNull {
            guard let list = requested.array, list.allSatisfy({ $0.string != nil }) else {
                throw malformed("events_requested", "must be a list of texts")
            }
            var types: [String] = []
            for type in list.compactMap(\.string) where !types.contains(type) { types.append(type) }
            settings.requested = types
        }
        if let description = body["description"], !description.isNull {
            guard let text = description.string else {
                throw malformed("description", "must be a text")
            }
            settings.description = text.isEmpty ? nil : text
        }
        if let delivery = body["delivery"], !delivery.isNull {
            settings.delivery = try self.delivery(delivery, current?.delivery)
        }
        return settings
    }

    /// The name that drafts of the framework had for pushing; some receivers know no other.
    private static let formerPushMethod =
        "https://schemas.openid.net/secevent/risc/delivery-method/push"

    private static func delivery(
        _ value: JSON, _ current: SignalDelivery?
    ) throws(Problem) -> SignalDelivery {
        guard value.object != nil else { throw malformed("delivery", "must be an object") }
        switch value["method"]?.string {
        case SignalDelivery.pollMethod: return .poll
        case SignalDelivery.pushMethod, formerPushMethod:
            guard let endpoint = value["endpoint_url"]?.string else {
                throw malformed("endpoint_url", "is required to push")
            }
            var header: String?
            if let given = value["authorization_header"], !given.isNull {
                guard let text = given.string else {
                    throw malformed("authorization_header", "must be a text")
                }
                header = text
            } else if case .push(endpoint, let known) = current {
                // It is shown to no reader, so that no receiver can repeat what it read.
                header = known
            }
            return .push(endpoint: endpoint, authorization: header)
        default:
            throw malformed(
                "method", "must be \(SignalDelivery.pushMethod) or \(SignalDelivery.pollMethod)")
        }
    }

    private static func malformed(_ name: String, _ sentence: String) -> Problem {
        Problem(.invalidField, "\(name) \(sentence).", field: name)
    }

    static let shape = Shape<Self>(
        "SignalStream",
        .required("stream_id", "Stream id.", \.stream.id, example: .string(SignalAnswers.stream)),
        .required(
            "iss", .text(1...2048), "Issuer of the stream's tokens.", \.stream.terms.issuer,
            example: "https://id.example.com"),
        .required(
            "aud", .text(1...128), "Audience of the tokens: the receiver's client id.",
            \.stream.terms.clientID, example: "siem"),
        .required(
            "events_supported", .list(of: .text(1...255), 0...50),
            "Event types that the realm can send.", { _ in SignalOffer.supported },
            example: SignalOffer.supported.json),
        .required(
            "events_requested", .list(of: .text(1...255), 0...50),
            "Event types that the receiver requests.", \.stream.state.settings.requested,
            example: [.string(SignalKind.sessionRevoked.uri)]),
        .required(
            "events_delivered", .list(of: .text(1...255), 0...50),
            "Event types that are delivered: supported and requested.",
            { SignalOffer.delivered($0.stream.state.settings.requested).map(\.uri) },
            example: [.string(SignalKind.sessionRevoked.uri)]),
        .required(
            "delivery", delivery.schema, "Delivery method and address.", { delivery.json($0) },
            example: delivery.example),
        .required(
            "min_verification_interval", .integer(0...86_400),
            "Minimum number of seconds between two verification requests.", \.verificationInterval,
            example: 60),
        .optional(
            "inactivity_timeout", .integer(0...31_536_000),
            "Seconds after which a stream that is not polled is paused.",
            { $0.stream.state.settings.delivery == .poll ? inactivityTimeout : nil },
            example: .integer(inactivityTimeout)),
        .optional(
            "description", .text(1...200), "Description of the stream by its receiver.",
            \.stream.state.settings.description))

    private static let delivery = Shape<Self>(
        .required(
            "method", .text(1...255), "Delivery method: push (RFC 8935) or poll (RFC 8936).",
            \.stream.state.settings.delivery.method, example: .string(SignalDelivery.pollMethod)),
        .required(
            "endpoint_url", .text(1...2048), "URL to push to, or to poll.", \.endpoint,
            example: .string("https://id.example.com/ssf/poll/\(SignalAnswers.stream)")))

    private var endpoint: String {
        switch stream.state.settings.delivery {
        case .push(let endpoint, _): endpoint
        case .poll: stream.terms.issuer + SignalMetadataRoutes.poll + stream.id.description
        }
    }

    static let exampleSettings: JSON = [
        "events_requested": [.string(SignalKind.sessionRevoked.uri)],
        "delivery": ["method": .string(SignalDelivery.pollMethod)],
    ]
}
