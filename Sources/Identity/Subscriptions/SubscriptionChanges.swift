package import EventSourcing
public import Values

/// The changes of a subscription.
package enum SubscriptionChange {
    package typealias Change<Rejection: Error & Equatable & Sendable> =
        EventSourcing.Change<InRealm<Subscription>, Rejection>
    package typealias NotFound = Identity.NotFound<Subscription>

    package enum ChangeRejection: Error, Equatable, Sendable {
        case notFound
        case invalid(FieldFault)
    }

    /// Changes what a subscription sends, where and how. What was not sent yet is sent by the new terms.
    package static func change(
        _ id: UUID, kind: Subscription.Kind = .webhook, terms: SubscriptionTerms,
        mayBeLoopback: Bool = false
    ) -> Change<ChangeRejection> {
        Change(of: id) { facts throws(ChangeRejection) in
            guard facts.thing.isThere(kind) else { throw .notFound }
            do throws(FieldFault) { try terms.check(kind, mayBeLoopback: mayBeLoopback) } catch {
                throw .invalid(error)
            }
            guard terms != facts.thing.state.terms else { return Decision() }
            return Decision(SubscriptionEvent.changed(terms), in: id)
        }
    }

    /// Stops a subscription until it is resumed. Nothing of what happens meanwhile is lost.
    package static func pause(_ id: UUID) -> Change<NotFound> {
        Change(of: id) { facts throws(NotFound) in
            guard facts.thing.isThere(.webhook) else { throw .notFound }
            guard facts.thing.state.standing == .active else { return Decision() }
            return Decision(SubscriptionEvent.paused, in: id)
        }
    }

    package enum ResumeRejection: Error, Equatable, Sendable {
        case notFound
        case rewound(keptTo: Int64)
    }

    /// Lets a subscription go on: from where it stopped, or from behind a position. An active webhook
    /// tries the deliveries that wait at once. Where the log was set back, the
    /// position says that the receiver has undone what is lost.
    package static func resume(_ id: UUID, startsAfter: Int64? = nil) -> Change<ResumeRejection> {
        Change(of: id) { facts throws(ResumeRejection) in
            guard facts.thing.isThere(.webhook) else { throw .notFound }
            let state = facts.thing.state
            if state.standing == .disabled(.rewound), startsAfter == nil {
                throw .rewound(keptTo: state.keptTo ?? 0)
            }
            return Decision(SubscriptionEvent.resumed(after: startsAfter), in: id)
        }
    }

    /// For how many seconds at least and at most an old secret signs.
    package static let overlap: ClosedRange<Int64> = 3600...7 * 86_400

    package enum RotateSecretRejection: Error, Equatable, Sendable {
        case notFound
        case invalid(FieldFault)
    }

    /// Gives a subscription a new secret. The old secret signs as well for a grace period.
    /// - Parameter keepsOldFor: For how many seconds the old secret signs.
    package static func rotateSecret(
        _ id: UUID, secret: SubscriptionSecret, keepsOldFor: Int64 = 86_400, now: Timestamp
    ) -> Change<RotateSecretRejection> {
        Change(of: id, at: now) { facts, now throws(RotateSecretRejection) in
            guard facts.thing.isThere(.webhook) else { throw .notFound }
            guard overlap.contains(keepsOldFor) else {
                throw .invalid(
                    FieldFault(
                        "keep_old",
                        .outOfRange(lowest: overlap.lowerBound, highest: overlap.upperBound)))
            }
            return Decision(
                SubscriptionEvent.secretRotated(secret, oldEnds: now.adding(seconds: keepsOldFor)),
                in: id)
        }
    }

    package enum ReplayRejection: Error, Equatable, Sendable {
        case notFound
        case invalid(FieldFault)
    }

    /// Puts on record that events are sent to a subscription again.
    /// - Parameter queued: How many were queued: a repeat of the request is answered the same.
    /// - Parameter next: Where a range goes on that was too long.
    package static func replay(
        _ id: UUID, replay: SubscriptionReplay, queued: Int64, next: Int64? = nil
    ) -> Change<ReplayRejection> {
        Change(of: id) { facts throws(ReplayRejection) in
            guard facts.thing.isThere(.webhook) else { throw .notFound }
            if case .range(let from, let to, let types) = replay {
                guard from >= 1 else {
                    throw .invalid(FieldFault("from", .outOfRange(lowest: 1, highest: to)))
                }
                guard from <= to else { throw .invalid(FieldFault("from", .conflicts(with: "to"))) }
                do throws(FieldFault) { try SubscriptionFilter(types: types).check() } catch {
                    throw .invalid(error)
                }
            }
            return Decision(SubscriptionEvent.replayed(replay, queued: queued, next: next), in: id)
        }
    }

    /// Puts on record that an administrator had a test message sent, and what came of it.
    package static func recordTest(_ id: UUID, test: SubscriptionTest) -> Change<NotFound> {
        Change(of: id) { facts throws(NotFound) in
            guard facts.thing.isThere(.webhook) else { throw .notFound }
            return Decision(SubscriptionEvent.tested(test), in: id)
        }
    }

    /// Puts on record that an event could not be delivered to a subscription.
    package static func giveUp(_ subscription: UUID, delivery: GivenUpDelivery) -> Change<NotFound>
    {
        Change(of: subscription) { facts throws(NotFound) in
            guard facts.thing.isThere(.webhook) else { throw .notFound }
            return Decision(SubscriptionEvent.givenUp(delivery), in: subscription)
        }
    }

    /// Puts on record that nothing sent to a subscription has been taken for hours, and tells the realm's contact.
    package static func warn(_ id: UUID, since: Timestamp, mail: UUID?) -> Change<NotFound> {
        Change(of: id) { facts throws(NotFound) in
            guard facts.thing.isThere(.webhook) else { throw .notFound }
            let state = facts.thing.state
            // In whole seconds, as the event has it.
            let whole = Timestamp(seconds: since.seconds)
            guard state.standing == .active, state.warnedSince != whole else { return Decision() }
            return Decision(SubscriptionEvent.failing(since: whole, mail: mail), in: id)
        }
    }

    /// Puts on record that a subscription waits at an event that cannot be sent.
    package static func halt(_ id: UUID, position: Int64, reason: String) -> Change<NotFound> {
        Change(of: id) { facts throws(NotFound) in
            guard facts.thing.isThere(.webhook) else { throw .notFound }
            guard facts.thing.state.standing == .active, facts.thing.state.haltedAt != position
            else {
                return Decision()
            }
            return Decision(SubscriptionEvent.halted(position: position, reason: reason), in: id)
        }
    }

    /// Puts on record that nothing can be delivered to a subscription any more.
    /// - Parameter url: Only if messages are still sent there.
    /// - Parameter mail: By which the realm's contact is told.
    package static func disable(
        _ id: UUID, reason: Subscription.DisableReason, position: Int64? = nil, url: String? = nil,
        mail: UUID? = nil
    ) -> Change<NotFound> {
        Change(of: id) { facts throws(NotFound) in
            guard facts.thing.isThere(.webhook) else { throw .notFound }
            let state = facts.thing.state
            if let url, url != state.terms.url { return Decision() }
            // A receiver may say that it wants nothing more after an administrator paused what it is sent.
            guard state.standing == .active || state.standing == .paused && reason == .gone else {
                return Decision()
            }
            return Decision(
                SubscriptionEvent.disabled(reason, position: position, mail: mail), in: id)
        }
    }

    /// Ends a subscription for good.
    package static func delete(_ id: UUID, kind: Subscription.Kind = .webhook) -> Change<NotFound> {
        Change(of: id) { facts throws(NotFound) in
            guard facts.thing.isThere(kind) else { throw .notFound }
            var decision = Decision(SubscriptionEvent.deleted, in: id)
            if let slot = facts.thing.state.slot {
                decision.release(Subscription.claim(of: kind, slot: slot), by: id)
            }
            return decision
        }
    }
}

extension Versioned<Subscription> {
    func isThere(_ kind: Subscription.Kind) -> Bool {
        exists && state.kind == kind && state.standing != .deleted
    }
}

/// What came of a test message.
public struct SubscriptionTest: Sendable, Equatable {
    /// HTTP status of the response; 0 without one.
    public var status: Int64
    public var outcome: String
    public var milliseconds: Int64
    public var at: Timestamp

    public init(status: Int64, outcome: String, milliseconds: Int64, at: Timestamp) {
        self.status = status
        self.outcome = outcome
        self.milliseconds = milliseconds
        self.at = at
    }
}

extension Field<SubscriptionTest> {
    static let test = record(
        .integer("status", "Status of the answer; 0 if there was none."),
        .text("outcome", "Outcome of the test."),
        .integer("milliseconds", "Duration in milliseconds."),
        .integer("sent_at", "Time of the test, in microseconds since 1970."),
        make: {
            SubscriptionTest(
                status: $0, outcome: $1, milliseconds: $2, at: Timestamp(microseconds: $3))
        }, take: { ($0.status, $0.outcome, $0.milliseconds, $0.at.microseconds) })
}
