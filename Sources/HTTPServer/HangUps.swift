internal import CMicroHTTPD
internal import Glibc
internal import Synchronization

/// Tells when the clients of streams hang up: libmicrohttpd does not look at a connection that is
/// suspended, and does not read from one that it writes to.
final class HangUps: Sendable {
    /// Descriptor that is readable when a peer has hung up.
    let events: Int32
    private let streams = Mutex<[Int32: ResponseStream]>([:])

    init() throws(Failure) {
        events = mhd_shim_hang_ups()
        guard events >= 0 else {
            throw Failure(code: .library, detail: "epoll_create1: errno \(errno)")
        }
    }

    deinit { close(events) }

    func watch(_ descriptor: Int32, _ stream: ResponseStream) {
        streams.withLock { $0[descriptor] = stream }
        _ = mhd_shim_watch(events, descriptor)
    }

    /// Before the descriptor is closed.
    func forget(_ descriptor: Int32, _ stream: ResponseStream) {
        let isWatched = streams.withLock { streams in
            guard streams[descriptor] === stream else { return false }
            streams[descriptor] = nil
            return true
        }
        guard isWatched else { return }
        _ = mhd_shim_forget(events, descriptor)
    }

    /// The stream of a client that has hung up, each once.
    func next() -> ResponseStream? {
        while true {
            let descriptor = mhd_shim_hung_up(events)
            if descriptor < 0 { return nil }
            if let stream = streams.withLock({ $0[descriptor] }) { return stream }
        }
    }
}
