public import EventSourcing
public import Identity
public import Values

/// Hands messages to the gateways of their realms: by the first channel that takes them.
public struct MessageCourier: Sendable {
    private let events: any EventLog
    private let transport: ProviderTransport

    public init(events: any EventLog, transport: @escaping ProviderTransport) {
        self.events = events
        self.transport = transport
    }

    public func gateways(of realm: RealmID) async throws(LogFailure) -> MessageGateways {
        var gateways = MessageGateways()
        for event in try await events.stream(MessageGateways.stream, after: 0, in: realm) {
            guard let event = MessageGatewayEvent(event) else { throw .damaged }
            gateways.apply(event)
        }
        return gateways
    }

    /// The first gateway that accepts the message is the last that is tried, and so is one that may have accepted it.
    public func carry(
        _ letter: Letter, as id: UUID, by gateways: MessageGateways
    ) async -> RecordDeliveries.Outcome {
        var outcome = RecordDeliveries.Outcome.refusedForGood(code: 0, .noGateway)
        for channel in [letter.channel] + letter.otherChannels {
            guard let gateway = gateways.byChannel[channel],
                let call = GatewayCall(
                    gateway: gateway, channel: channel, letter: letter, id: id
                ).request()
            else { continue }
            switch GatewayVerdict(await transport(call)) {
            case .taken: return .taken(by: channel)
            case .unknown(let code): return .refusedForGood(code: code, .unsettled)
            case .refused(let code, let fault):
                if case .refusedForNow = outcome { break }
                outcome = .refusedForGood(code: code, fault)
            case .later(let code, let fault): outcome = .refusedForNow(code: code, fault)
            }
        }
        return outcome
    }
}
