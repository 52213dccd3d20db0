internal import CMicroHTTPD
internal import Glibc

/// A listening TCP socket and the port that it got.
struct Listener {
    let descriptor: Int32
    let port: UInt16

    /// Opens the configured address, or takes over the socket that was handed in.
    init(_ configuration: Configuration) throws(Failure) {
        if let given = configuration.listeningSocket {
            descriptor = given
        } else {
            descriptor = try Listener.open(configuration.address, configuration.port)
        }
        let flags = fcntl(descriptor, F_GETFL)
        guard flags >= 0, fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0,
            fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0,
            let port = Listener.boundPort(of: descriptor)
        else {
            let failure = Failure.ofSystem("fcntl or getsockname")
            close(descriptor)
            throw failure
        }
        self.port = port
    }

    private static func open(_ address: String, _ port: UInt16) throws(Failure) -> Int32 {
        var version4 = sockaddr_in()
        var version6 = sockaddr_in6()
        if unsafe inet_pton(AF_INET, address, &version4.sin_addr) == 1 {
            version4.sin_family = sa_family_t(AF_INET)
            version4.sin_port = port.bigEndian
            return try unsafe withUnsafeBytes(of: &version4) { bytes throws(Failure) in
                try unsafe bind(AF_INET, bytes)
            }
        }
        if unsafe inet_pton(AF_INET6, address, &version6.sin6_addr) == 1 {
            version6.sin6_family = sa_family_t(AF_INET6)
            version6.sin6_port = port.bigEndian
            return try unsafe withUnsafeBytes(of: &version6) { bytes throws(Failure) in
                try unsafe bind(AF_INET6, bytes)
            }
        }
        throw Failure(code: .address, detail: "an address of \(address.utf8.count) bytes")
    }

    private static func bind(
        _ family: Int32, _ address: UnsafeRawBufferPointer
    ) throws(Failure) -> Int32 {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(family, kind, 0)
        guard descriptor >= 0 else { throw Failure.ofSystem("socket") }
        // A restarted server takes its port back although old connections linger on it.
        setOption(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
        if family == AF_INET6 { setOption(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, 0) }
        let bound = unsafe address.baseAddress.map { start in
            let socketAddress = unsafe start.assumingMemoryBound(to: sockaddr.self)
            return unsafe Glibc.bind(descriptor, socketAddress, socklen_t(address.count))
        }
        guard bound == 0, listen(descriptor, SOMAXCONN) == 0 else {
            let failure = Failure.ofSystem("bind or listen")
            close(descriptor)
            throw failure
        }
        return descriptor
    }

    private static func setOption(
        _ descriptor: Int32, _ level: Int32, _ name: Int32, _ value: Int32
    ) {
        var value = value
        _ = unsafe setsockopt(
            descriptor, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    /// 0 for a socket that has no port, such as one of the unix family.
    private static func boundPort(of descriptor: Int32) -> UInt16? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return unsafe withUnsafeMutableBytes(of: &storage) { bytes -> UInt16? in
            guard let start = bytes.baseAddress else { return nil }
            let address = unsafe start.assumingMemoryBound(to: sockaddr.self)
            guard unsafe getsockname(descriptor, address, &length) == 0 else { return nil }
            switch Int32(unsafe address.pointee.sa_family) {
            // Both kinds keep the port behind the family.
            case AF_INET, AF_INET6:
                return UInt16(bigEndian: unsafe bytes.load(fromByteOffset: 2, as: UInt16.self))
            default: return 0
            }
        }
    }
}

extension Failure {
    /// Reads errno at once, before anything else can change it.
    fileprivate static func ofSystem(_ call: String) -> Failure {
        Failure(code: .socket, detail: "\(call): errno \(errno)")
    }
}
