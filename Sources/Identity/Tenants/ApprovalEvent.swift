public import EventSourcing
public import JSON
public import Values

/// What a person is asked to agree to with a device, and what they said.
public enum ApprovalEvent: Event {
    /// A device that is not trusted asked.
    case requested(ApprovalTerms)
    case answered(isApproved: Bool, key: UUID, account: UUID, client: UUID, at: Timestamp)
    /// Agreed to without being asked: the device had a key itself, or its person typed the PIN.
    case given(ApprovalTerms, key: UUID?)
    /// The signature that answered a request, in a stream of its own.
    case signatureUsed(approval: UUID, account: UUID, client: UUID)

    private static let terms: [EventField] = [
        .client,
        // By it the app that asked fetches its tokens.
        EventField("number", .integer, "Number that apps know it by.", .neverLeaves(.plain)),
        .stamp, .removals,
        .text("label", "What the app calls it."),
        .choice("method", TenantMethod.self, "By what it is agreed to."),
        .time("signed_at", "Time that is signed with it."),
        .time("requested_at", "When it was asked for."),
        .text("address", "Address that it was asked for from.", .personal(.person)).optional,
    ]

    public static let catalogue: [EventShape] = [
        EventShape(
            "approval.requested", .audit,
            "An app asked for a person's agreement on one of their devices.",
            [.account.optional] + terms + SignInPlace.eventFields),
        EventShape(
            "approval.answered", .audit, "The person agreed with a device, or did not.",
            [
                .account, .client, .uuid("key", "Key of the device that signed."),
                .flag("approved", "Whether the person agreed."),
                .time("answered_at", "When it was answered."),
            ]),
        EventShape(
            "approval.given", .audit, "The person agreed with a device that asked itself.",
            [.account.optional] + terms + SignInPlace.eventFields
                + [.uuid("key", "Key of the device that signed, if it was not a PIN.").optional]),
        EventShape(
            "approval.signature_used", .internal, "A signature answered a request: it is used.",
            [.account, .client, .uuid("approval", "The request.")]),
    ]

    public var name: String {
        switch self {
        case .requested: "approval.requested"
        case .answered: "approval.answered"
        case .given: "approval.given"
        case .signatureUsed: "approval.signature_used"
        }
    }

    public var subject: UUID? {
        switch self {
        case .requested(let terms), .given(let terms, _): terms.account
        case .answered(_, _, let account, _, _), .signatureUsed(_, let account, _): account
        }
    }

    public var fields: JSONObject {
        switch self {
        case .requested(let terms): return terms.fields
        case .answered(let isApproved, let key, let account, let client, let at):
            return [
                "account": .uuid(account), "client": .uuid(client), "key": .uuid(key),
                "approved": .bool(isApproved), "answered_at": .integer(at.seconds),
            ]
        case .given(let terms, let key):
            var fields = terms.fields
            fields["key"] = key.map { .uuid($0) }
            return fields
        case .signatureUsed(let approval, let account, let client):
            return [
                "account": .uuid(account), "client": .uuid(client), "approval": .uuid(approval),
            ]
        }
    }

    public init?(name: String, fields: JSONObject) {
        switch name {
        case "approval.requested":
            guard let terms = ApprovalTerms(recorded: fields) else { return nil }
            self = .requested(terms)
        case "approval.answered":
            guard let account = fields.uuid("account"), let client = fields.uuid("client"),
                let key = fields.uuid("key"), let isApproved = fields["approved"]?.bool,
                let at = fields.instant("answered_at")
            else { return nil }
            self = .answered(
                isApproved: isApproved, key: key, account: account, client: client, at: at)
        case "approval.given":
            guard let terms = ApprovalTerms(recorded: fields) else { return nil }
            self = .given(terms, key: fields.uuid("key"))
        case "approval.signature_used":
            guard let approval = fields.uuid("approval"), let account = fields.uuid("account"),
                let client = fields.uuid("client")
            else { return nil }
            self = .signatureUsed(approval: approval, account: account, client: client)
        default: return nil
        }
    }
}

extension ApprovalTerms {
    fileprivate var fields: JSONObject {
        var fields: JSONObject = [
            "client": .uuid(client), "number": .integer(number),
            "stamp": .integer(Int64(stamp)), "label": .string(label),
            "method": .string(method.rawValue), "signed_at": .integer(signedAt.seconds),
            "requested_at": .integer(at.seconds),
        ]
        if removals > 0 { fields["removals"] = .integer(Int64(removals)) }
        fields["account"] = account.map { .uuid($0) }
        // Nobody's key would seal it where the account is not known.
        if account != nil { fields["address"] = address.map { .string($0) } }
        return fields.merging(from.fields) { own, _ in own }
    }

    fileprivate init?(recorded fields: JSONObject) {
        guard let client = fields.uuid("client"), let number = fields["number"]?.integer,
            let stamp = fields["stamp"]?.integer, let label = fields["label"]?.string,
            let method = fields["method"]?.string.flatMap(TenantMethod.init),
            let signedAt = fields.instant("signed_at"), let at = fields.instant("requested_at")
        else { return nil }
        self.init(
            number: number, client: client, account: fields.uuid("account"),
            stamp: Int(clamping: stamp), label: label, method: method, signedAt: signedAt, at: at,
            address: fields["address"]?.string,
            from: SignInPlace(recorded: fields))
        removals = Int(clamping: fields["removals"]?.integer ?? 0)
    }
}
