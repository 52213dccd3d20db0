public import EventSourcing
public import Values

/// A device that asks whether somebody has decided (RFC 8628 section 3.4). What it gets it gets once.
public struct DeviceGrant: Grant {
    /// That the device's code is authentic is known already.
    public var device: UUID

    public init(device: UUID) {
        self.device = device
    }

    public static let type = GrantType.deviceCode

    public struct Facts: Sendable {
        let device: Versioned<Device>
        let account: Versioned<Account>?
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let device = try await streams.read(Device.self, device)
        guard let approval = device.state.approval else {
            return Facts(device: device, account: nil)
        }
        return Facts(
            device: device, account: try await streams.read(Account.self, approval.account))
    }

    public func account(_ facts: Facts) -> UUID? { facts.account?.stream }

    public func settle(
        _ facts: Facts, at desk: GrantDesk
    ) throws(GrantRefusal) -> Settled<GrantOutcome> {
        let state = facts.device.state
        guard let terms = state.terms, terms.client == desk.request.client, !state.isRedeemed
        else { throw .invalidDeviceCode }
        guard !state.isDenied else { throw .deviceDenied }
        guard desk.request.now < terms.expiresAt else { throw .expiredDeviceCode }
        guard let approval = state.approval, let account = facts.account else {
            throw .authorizationPending
        }
        guard account.isWelcome, account.state.stamp == approval.stamp else {
            throw .accountBlocked
        }
        // What was shown to the person is what there is; now is too late to ask for anything else.
        var request = desk.request
        request.resources = terms.resources
        try desk.require(terms.resources)
        let asked = GrantDesk(
            request: request, settings: desk.settings, metadata: desk.metadata,
            method: desk.method)
        return asked.open(
            after: Decision(DeviceEvent.redeemed, in: device),
            account: (account.stream, approval.stamp), scope: terms.scope,
            factors: approval.factors)
    }
}
