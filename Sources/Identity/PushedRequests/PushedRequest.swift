public import EventSourcing

/// An authorization request that its client had pushed (RFC 9126).
public struct PushedRequest: StreamState {
    public private(set) var isUsed = false

    public init() {}

    public mutating func apply(_ event: PushedRequestEvent) {
        switch event {
        case .used: isUsed = true
        }
    }
}
