public import EventSourcing

/// Takes the gateway for messages of one kind from a realm.
public struct RemoveMessageGateway: Command {
    public var channel: Channel

    public init(_ channel: Channel) {
        self.channel = channel
    }

    public enum Rejection: Error, Equatable, Sendable {
        case notSet
    }

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> InRealm<MessageGateways> {
        try await .read(MessageGateways.stream, from: streams)
    }

    public func decide(_ facts: InRealm<MessageGateways>) throws(Rejection) -> Decision {
        guard facts.thing.state.byChannel[channel] != nil else { throw .notSet }
        return Decision(MessageGatewayEvent.removed(channel), in: MessageGateways.stream)
    }
}
