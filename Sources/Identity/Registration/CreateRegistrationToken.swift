public import EventSourcing
public import Values

/// Makes a token by which so many clients may register themselves.
public struct CreateRegistrationToken: TimedCommand {
    public var id: UUID
    public var label: String
    public var uses: Int64
    /// As a client would ask for it, with spaces between.
    public var scope: String
    public var days: Int64
    public var now: Timestamp

    public init(
        id: UUID, label: String, uses: Int64 = 1, scope: String = "", days: Int64 = 7,
        now: Timestamp
    ) {
        self.id = id
        self.label = label
        self.uses = uses
        self.scope = scope
        self.days = days
        self.now = now
    }

    public static let mostUses: Int64 = 10_000
    public static let mostDays: Int64 = 365

    public enum Rejection: Error, Equatable, Sendable {
        case idTaken
        case invalid(FieldFault)
    }

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> InRealm<RegistrationToken> {
        try await .read(id, from: streams)
    }

    public func decide(_ facts: InRealm<RegistrationToken>) throws(Rejection) -> Decision {
        guard !facts.thing.exists else { throw .idTaken }
        do throws(FieldFault.Reason) { try TextRule.label(label, limit: 100) } catch {
            throw .invalid(FieldFault("label", error))
        }
        guard (1...Self.mostUses).contains(uses) else {
            throw .invalid(
                FieldFault("uses", .outOfRange(lowest: 1, highest: Self.mostUses)))
        }
        guard (1...Self.mostDays).contains(days) else {
            throw .invalid(
                FieldFault("expires_in_days", .outOfRange(lowest: 1, highest: Self.mostDays)))
        }
        guard let names = Scope.parse(scope), Set(names).count == names.count else {
            throw .invalid(FieldFault("scope", .malformed))
        }
        let terms = RegistrationTerms(
            label: label, uses: Int(clamping: uses), scope: names,
            expiresAt: now.adding(seconds: days * 86_400))
        return Decision(RegistrationTokenEvent.created(terms), in: id)
    }
}
