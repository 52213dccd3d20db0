import Foundation

/// A server that takes connections and never says a word.
public final class SilentServer: Sendable {
    private let descriptor: Int32
    private let port: UInt16

    public init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listening = descriptor
        let isThere = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listening, $0, length) == 0 && listen(listening, 64) == 0
                    && getsockname(listening, $0, &length) == 0
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        guard isThere else {
            throw TestCluster.Problem(description: "No port to listen on: \(errno)")
        }
    }

    deinit {
        close(descriptor)
    }

    /// Whoever connects gives up after two seconds.
    public var address: String {
        "host=127.0.0.1 port=\(port) user=urd_app connect_timeout=2"
    }
}
