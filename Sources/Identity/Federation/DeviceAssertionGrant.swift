public import EventSourcing
public import Values

/// A device that showed the key of its app's version. It gets a token of its own, which people sign in under.
///
/// The token that the device had ends, and all below it: the assertion is signed by a key that every
/// installation of the version has, and does not show that it is the same installation as before.
public struct DeviceAssertionGrant: Grant {
    /// The device's stream.
    public var device: UUID
    public var keyID: String
    public var type: String?
    public var system: String?
    public var name: String?

    public init(device: UUID, keyID: String, type: String?, system: String?, name: String?) {
        self.device = device
        self.keyID = keyID
        self.type = type
        self.system = system
        self.name = name
    }

    public static let type = GrantType.jwtBearer

    public struct Facts: Sendable {
        let device: Versioned<FederatedDevice>
        let before: Versioned<Session>?
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let device = try await streams.read(FederatedDevice.self, device)
        guard let session = device.state.session else { return Facts(device: device, before: nil) }
        return Facts(device: device, before: try await streams.read(Session.self, session))
    }

    public func account(_ facts: Facts) -> UUID? { nil }

    public func settle(
        _ facts: Facts, at desk: GrantDesk
    ) throws(GrantRefusal) -> SettledDecision<GrantOutcome> {
        guard desk.metadata.rules.isFederationApp else { throw .unauthorizedClient }
        var decision = Decision()
        if let before = facts.before, before.state.end == nil {
            decision.append(SessionEvent.ended(.replaced), in: before.stream)
        }
        decision.append(
            FederatedDeviceEvent.asserted(
                session: desk.request.session,
                FederatedDeviceTerms(
                    client: desk.request.client, clientID: desk.request.clientID, type: type,
                    system: system, name: name)),
            in: facts.device.stream)
        var desk = desk
        desk.federation = FederatedToken(holder: .device, keyID: keyID, device: device)
        return desk.open(after: decision, account: nil, scope: [], factors: [])
    }
}
