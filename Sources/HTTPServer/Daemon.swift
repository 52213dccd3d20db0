internal import CMicroHTTPD
internal import Glibc

/// A running daemon of libmicrohttpd.
///
/// MHD_start_daemon, MHD_quiesce_daemon, MHD_stop_daemon
@safe struct Daemon: @unchecked Sendable {
    private let pointer: OpaquePointer
    private let context: UnsafeMutableRawPointer

    /// The listening socket is the daemon's from here on, also when it does not start.
    init(_ listener: Listener, _ core: Core) throws(Failure) {
        let configuration = core.configuration
        let context = unsafe Unmanaged.passRetained(core).toOpaque()
        let threads = UInt32(configuration.threads)
        var settings = unsafe mhd_shim_settings(
            flags: MHD_USE_EPOLL_INTERNAL_THREAD.rawValue | MHD_ALLOW_SUSPEND_RESUME.rawValue,
            listening_socket: listener.descriptor,
            threads: threads,
            // The limit is ours to hold (`Connections`); the library would give each thread only
            // its share.
            connection_limit: (UInt32(configuration.maximumConnections) + threads) * threads,
            // Room for the headers, for the library's record of each of them, and for those of the
            // response. What does not fit is refused by the library with 431. Not more: it clears
            // all of it after every request, which was an eighth of the work with four times this.
            connection_memory: configuration.maximumHeaderBytes + 16 * 1024,
            context: context,
            accept_policy: clientArrived,
            connection_changed: connectionChanged,
            request_began: requestBegan,
            request_advanced: requestAdvanced,
            request_ended: requestEnded,
            unescape: leaveEscaped)
        guard let pointer = unsafe mhd_shim_start(&settings) else {
            let failure = Failure(code: .library, detail: "MHD_start_daemon: errno \(errno)")
            close(listener.descriptor)
            unsafe Unmanaged<Core>.fromOpaque(context).release()
            throw failure
        }
        unsafe self.pointer = pointer
        unsafe self.context = context
    }

    /// Further clients are refused by the system, unless somebody else holds the socket too, as
    /// systemd does: then they wait for the next server.
    func stopAccepting() {
        let descriptor = unsafe MHD_quiesce_daemon(pointer)
        if descriptor >= 0 { close(descriptor) }
    }

    /// Closes what is still open and waits for the threads. Once, and never with a suspended
    /// connection.
    func stop() {
        unsafe MHD_stop_daemon(pointer)
        unsafe Unmanaged<Core>.fromOpaque(context).release()
    }
}
