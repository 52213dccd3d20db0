public import EventSourcing
public import Values

/// A device that polls for its approval (RFC 8628 section 3.4). Its tokens are issued once.
public struct DeviceGrant: Grant {
    /// That the device's code is authentic is known already.
    public var device: UUID
    /// The device polls too fast: until a decision it is told to slow down.
    public var isTooSoon: Bool

    public init(device: UUID, isTooSoon: Bool = false) {
        self.device = device
        self.isTooSoon = isTooSoon
    }

    public static let type = GrantType.deviceCode

    public struct Facts: Sendable {
        let device: Versioned<Device>
        let account: Versioned<Account>?
        /// Where it was approved; nil where that is not on record.
        let approver: DeviceApprover?
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let device = try await streams.read(Device.self, device)
        guard let approval = device.state.approval else {
            return Facts(device: device, account: nil, approver: nil)
        }
        return Facts(
            device: device, account: try await streams.read(Account.self, approval.account),
            approver: try await DeviceApprover.read(approval.place, from: streams))
    }

    public func account(_ facts: Facts) -> UUID? { facts.account?.stream }

    public func settle(
        _ facts: Facts, at desk: GrantDesk
    ) throws(GrantRefusal) -> SettledDecision<GrantOutcome> {
        let state = facts.device.state
        guard let terms = state.terms, terms.client == desk.request.client, !state.isRedeemed
        else { throw .invalidDeviceCode }
        guard !state.isDenied else { throw .deviceDenied }
        guard desk.request.now < terms.expiresAt else { throw .expiredDeviceCode }
        // What is shown to the person is what there is: now is too late to ask for anything else.
        let asked = try desk.narrowed(within: terms.resources)
        guard let approval = state.approval, let account = facts.account else {
            guard !isTooSoon else { throw .askedTooSoon }
            return SettledDecision(asking(at: desk.request.now), .failure(.authorizationPending))
        }
        guard account.isWelcome,
            account.state.keeps(approval.stamp, approval.factors, at: [.client(terms.client)])
        else {
            throw .accountBlocked
        }
        if let approver = facts.approver,
            !approver.isSignedIn(account, at: desk.request.now)
        {
            throw .accountBlocked
        }
        return asked.open(
            after: Decision(DeviceEvent.redeemed, in: device),
            account: account.standing, scope: terms.scope,
            factors: approval.factors
        ) { terms in
            terms.opener = facts.approver?.opener
            // To let a device in is no sign-in: that was before.
            terms.authenticatedAt = approval.signedInAt ?? approval.at
        }
    }
}

/// How often a device asks is known to all nodes: each asks the log for the moment that it was asked in.
extension DeviceGrant {
    /// Seconds between two questions (RFC 8628 section 3.5).
    public static let interval: Int64 = 5

    static let claimKind = "device_poll"

    /// Time windows, each with room for one poll. They come in two rows, half a window apart: a
    /// device that waits long enough is never twice in one, and a device that waits less than half
    /// of that always is.
    static func spans(of device: UUID, at now: Timestamp) -> [Claim] {
        let half = interval * 500_000
        let count = now.microseconds / half
        return [count / 2 * 2, (count + 1) / 2 * 2 - 1].map { first in
            Claim(claimKind, "\(device) \(first)", until: now.adding(seconds: interval))
        }
    }

    private func asking(at now: Timestamp) -> Decision {
        var decision = Decision()
        for span in Self.spans(of: device, at: now) { decision.take(span, for: device) }
        return decision
    }
}
