public import EventSourcing
public import Values

/// What a person agreed to with a device, or is asked to: in the words of the profile an event. Its stream
/// follows from the number that apps know it by.
public struct Approval: StreamState {
    /// Nil before a request for the approval.
    public private(set) var terms: ApprovalTerms?
    /// Nil before the person's answer.
    public private(set) var answer: Answer?

    public struct Answer: Sendable, Equatable {
        public var isApproved: Bool
        /// The key that signed; nil for a PIN.
        public var key: UUID?
        public var at: Timestamp
    }

    /// Seconds for which a request may be answered, a signature is taken, and an answer may be fetched.
    public static let patience: Int64 = 180

    public init() {}

    public mutating func apply(_ event: ApprovalEvent) {
        switch event {
        case .requested(let terms): self.terms = terms
        case .answered(let isApproved, let key, _, _, let at):
            answer = Answer(isApproved: isApproved, key: key, at: at)
        case .given(let terms, let key):
            self.terms = terms
            answer = Answer(isApproved: true, key: key, at: terms.at)
        // That the stream exists is what refuses the signature from then on.
        case .signatureUsed: break
        }
    }

    /// The session that it opens, once: its name follows, so that it needs no look-up.
    public static func session(of approval: UUID) -> UUID {
        UUID(high: approval.high, low: approval.low ^ 0x0000_6170_7072_0000)
    }

    /// Whether the request may be answered at this time.
    public func isOpen(at now: Timestamp) -> Bool {
        guard let terms, answer == nil else { return false }
        return now < terms.at.adding(seconds: Self.patience)
    }
}

public struct ApprovalTerms: Sendable, Equatable {
    public var number: Int64
    public var client: UUID
    /// Nil for an unknown person. The request waits like others, and no device can answer it.
    public var account: UUID?
    /// The account's stamp at that time.
    public var stamp: Int
    /// How often it had removed access by then.
    public var removals = 0
    /// What the app calls it, such as `LOGIN`.
    public var label: String
    public var method: TenantMethod
    /// As the app said it, in seconds: it is signed.
    public var signedAt: Timestamp
    public var at: Timestamp
    /// Where it was asked for: the network's address. Nil too where the person is erased.
    public var address: String?
    public var from: SignInPlace

    public init(
        number: Int64, client: UUID, account: UUID?, stamp: Int = 0, label: String,
        method: TenantMethod, signedAt: Timestamp, at: Timestamp, address: String? = nil,
        from: SignInPlace = SignInPlace()
    ) {
        self.number = number
        self.client = client
        self.account = account
        self.stamp = stamp
        self.label = label
        self.method = method
        self.signedAt = signedAt
        self.at = at
        self.address = address
        self.from = from
    }

    /// What of the account ends what was agreed to before.
    mutating func take(_ standing: SecurityStamp) {
        (stamp, removals) = (standing.number, standing.removals)
    }

    /// Whether it opens a session: an approval for another purpose signs no person in.
    public var signsIn: Bool { label.utf8.starts(with: "LOGIN".utf8) }

    /// A signature of long ago, or of a clock that is wrong, is none.
    func isFresh(at now: Timestamp) -> Bool {
        abs(now.seconds - signedAt.seconds) <= Approval.patience
    }
}
