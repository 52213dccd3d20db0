public import EventSourcing
public import Values

/// What a person is asked to agree to with a device, and what they said.
public enum ApprovalEvent: FormedEvent {
    /// A device that is not trusted asked.
    case requested(ApprovalTerms)
    case answered(isApproved: Bool, key: UUID, account: UUID, client: UUID, at: Timestamp)
    /// Agreed to without being asked: the device had a key itself, or its person typed the PIN.
    case given(ApprovalTerms, key: UUID?)
    /// The signature that answered a request, in a stream of its own.
    case signatureUsed(approval: UUID, account: UUID, client: UUID)

    package enum Form {
        package static let requested = EventForm(
            "approval.requested", .audit, .secondFactorAsked,
            "An app asked for a person's agreement on one of their devices.", .terms,
            make: ApprovalEvent.requested)
        package static let answered = EventForm(
            "approval.answered", .audit, .step(.awaited),
            "The person agreed with a device, or did not.",
            .flag("approved", "Whether the person approved the request."),
            .uuid("key", "Key of the device that signed."), .account, .client,
            .time("answered_at", "Time of the answer."), make: ApprovalEvent.answered)
        package static let given = EventForm(
            "approval.given", .audit, .step(.passed),
            "The person agreed with a device that asked itself.", .terms,
            .optional(.uuid("key", "Key of the device that signed, if it was not a PIN.")),
            make: ApprovalEvent.given)
        package static let signatureUsed = EventForm(
            "approval.signature_used", .internal, .detail,
            "A signature answered a request: it is used.", .uuid("approval", "Approval request."),
            .account, .client, make: ApprovalEvent.signatureUsed)
    }

    public static let forms: EventForms<Self> = [
        Form.requested, Form.answered, Form.given, Form.signatureUsed,
    ]

    public var subject: UUID? {
        switch self {
        case .requested(let terms), .given(let terms, _): terms.account
        case .answered(_, _, let account, _, _), .signatureUsed(_, let account, _): account
        }
    }

    public var written: WrittenEvent {
        switch self {
        case .requested(let terms): Form.requested(terms)
        case .answered(let isApproved, let key, let account, let client, let at):
            Form.answered(isApproved, key, account, client, at)
        case .given(let terms, let key): Form.given(terms, key)
        case .signatureUsed(let approval, let account, let client):
            Form.signatureUsed(approval, account, client)
        }
    }
}

extension Field<ApprovalTerms> {
    fileprivate static let terms = record(
        // By it the app that asked fetches its tokens.
        .integer("number", "Number that apps know it by.", .neverLeaves(.plain)), .client,
        .optional(.account), .stampNumber, .text("label", "Label of the request in the app."),
        .choice("method", "Method of the approval."),
        .time("signed_at", "Time that is signed with it."),
        .time("requested_at", "Time of the request."),
        .optional(.text("address", "IP address of the request.", .personal(.person))),
        .place, .removals,
        make: {
            var terms = ApprovalTerms(
                number: $0, client: $1, account: $2, stamp: $3, label: $4, method: $5, signedAt: $6,
                at: $7, address: $8, from: $9)
            terms.removals = $10
            return terms
        },
        take: {
            (
                $0.number, $0.client, $0.account, $0.stamp, $0.label, $0.method, $0.signedAt, $0.at,
                // No account's key could seal it where the account is not known.
                $0.account == nil ? nil : $0.address, $0.from, $0.removals
            )
        })
}
