import Glibc

/// TCP ports of this machine.
enum Port {
    enum State: Equatable, Sendable {
        case free
        case taken
        /// The port is below 1024, and the process lacks the privilege.
        case forbidden
        case unknown(Int32)
    }

    /// Tries to listen on an IPv4 address and lets go again.
    static func state(of port: UInt16, address: String = "127.0.0.1") -> State {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_INET, kind, 0)
        guard descriptor >= 0 else { return .unknown(errno) }
        defer { close(descriptor) }
        var yes: Int32 = 1
        setsockopt(
            descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_port = port.bigEndian
        guard inet_pton(AF_INET, address, &place.sin_addr) == 1 else { return .unknown(EINVAL) }
        let bound = withUnsafePointer(to: place) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard bound == 0, listen(descriptor, 1) == 0 else {
            return switch errno {
            case EADDRINUSE: .taken
            case EACCES: .forbidden
            default: .unknown(errno)
            }
        }
        return .free
    }

    /// One that is free now, as the system chooses.
    static func free() throws(SystemFailure) -> UInt16 {
        let descriptor = socket(
            AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw SystemFailure("open", "a socket") }
        defer { close(descriptor) }
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let found = withUnsafeMutablePointer(to: &place) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard found else { throw SystemFailure("find", "a free port") }
        return UInt16(bigEndian: place.sin_port)
    }
}
