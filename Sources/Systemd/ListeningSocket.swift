internal import CSystemd
internal import Glibc

/// A listening socket that systemd opened and handed over: the port is bound before the service
/// starts, so that no connection is refused while it starts again.
///
/// sd_listen_fds(3), sd_is_socket(3)
public struct ListeningSocket: Equatable, Sendable {
    /// Ours from now on: the server on it closes it.
    public let descriptor: Int32
    /// `FileDescriptorName=` of the socket unit; `unknown` where none is given.
    public let name: String

    /// The sockets handed to this process; none without socket activation.
    ///
    /// Call it once, before threads are started: it takes the variables out of the environment, so
    /// that children do not believe the sockets were meant for them.
    public static func handedOver() throws(Failure) -> [ListeningSocket] {
        var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        let count = unsafe sd_listen_fds_with_names(1, &names)
        defer { unsafe release(names) }
        guard count >= 0 else {
            throw Failure(code: .unreadableSockets, detail: "sd_listen_fds_with_names: \(count)")
        }
        var sockets: [ListeningSocket] = []
        for index in 0..<count {
            let descriptor = SD_LISTEN_FDS_START + index
            guard sd_is_socket(descriptor, AF_UNSPEC, Int32(SOCK_STREAM.rawValue), 1) > 0 else {
                throw Failure(code: .notAListeningSocket, detail: "descriptor \(descriptor)")
            }
            let name = unsafe names?[Int(index)].map { unsafe String(cString: $0) }
            sockets.append(ListeningSocket(descriptor: descriptor, name: name ?? "unknown"))
        }
        return sockets
    }

    /// The list and each of its names belong to the caller.
    private static func release(_ names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) {
        guard let names = unsafe names else { return }
        var next = unsafe names
        while let name = unsafe next.pointee {
            unsafe free(name)
            unsafe next += 1
        }
        unsafe free(names)
    }
}
