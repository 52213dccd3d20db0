/// Why systemd's part could not be done. `description` is bland; the detail is for our own log.
public struct Failure: Error, CustomStringConvertible, CustomDebugStringConvertible {
    public enum Code: Equatable, Sendable {
        /// LISTEN_FDS and its companions cannot be read.
        case unreadableSockets
        /// A descriptor was handed over that is no listening stream socket.
        case notAListeningSocket
    }

    public let code: Code
    let detail: String

    public var description: String {
        switch code {
        case .unreadableSockets: "The sockets handed over by systemd cannot be read."
        case .notAListeningSocket: "A descriptor handed over by systemd is no listening socket."
        }
    }

    public var debugDescription: String { "\(description) (\(detail))" }
}
