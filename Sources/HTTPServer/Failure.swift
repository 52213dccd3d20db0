/// Why a server could not start. `description` is bland; the detail is for our own log.
public struct Failure: Error, CustomStringConvertible, CustomDebugStringConvertible {
    public enum Code: Equatable, Sendable {
        case configuration
        /// The address is no IP address in digits.
        case address
        /// The system refused the socket: the port is taken, or not ours to take.
        case socket
        case library
    }

    public let code: Code
    let detail: String

    public var description: String {
        switch code {
        case .configuration: "The configuration of the HTTP server is wrong: \(detail)."
        case .address: "The HTTP server's address is no IP address."
        case .socket: "The HTTP server cannot listen on its address."
        case .library: "The HTTP server cannot start."
        }
    }

    public var debugDescription: String { "\(description) (\(detail))" }
}
