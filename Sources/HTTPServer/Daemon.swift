internal import CMicroHTTPD
internal import Glibc

/// A daemon of libmicrohttpd that is driven from outside, by the thread of its `Worker` alone.
///
/// MHD_start_daemon, MHD_run, MHD_quiesce_daemon, MHD_stop_daemon
@safe struct Daemon: @unchecked Sendable {
    private let pointer: OpaquePointer
    private let context: UnsafeMutableRawPointer
    private let listener: UnsafeMutablePointer<mhd_shim_listener>
    /// Descriptor that is readable when the daemon has work.
    let events: Int32

    /// The listening socket is the daemon's from here on, also when it does not start.
    init(listeningSocket: Int32, _ worker: Worker) throws(Failure) {
        let configuration = worker.server.configuration
        let context = unsafe Unmanaged.passRetained(worker).toOpaque()
        var settings = unsafe mhd_shim_settings(
            flags: MHD_USE_EPOLL.rawValue | MHD_ALLOW_SUSPEND_RESUME.rawValue,
            listening_socket: listeningSocket,
            // The limit is ours to hold (`Connections`), over all daemons.
            connection_limit: UInt32(configuration.maximumConnections) + 1,
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
        let listener = UnsafeMutablePointer<mhd_shim_listener>.allocate(capacity: 1)
        unsafe listener.initialize(
            to: mhd_shim_listener(length_refused: lengthRefused, context: context))
        guard let pointer = unsafe mhd_shim_start(&settings, listener) else {
            let failure = Failure(code: .library, detail: "MHD_start_daemon: errno \(errno)")
            unsafe listener.deallocate()
            close(listeningSocket)
            unsafe Unmanaged<Worker>.fromOpaque(context).release()
            throw failure
        }
        unsafe self.pointer = pointer
        unsafe self.context = context
        unsafe self.listener = listener
        events = unsafe mhd_shim_epoll(pointer)
    }

    /// Does all pending work of libmicrohttpd and never waits.
    func run() {
        _ = unsafe MHD_run(pointer)
    }

    /// Whether there is something to do that no event will tell of.
    var isBusy: Bool {
        var milliseconds: UInt64 = 0
        return unsafe MHD_get_timeout(pointer, &milliseconds) == .YES && milliseconds == 0
    }

    /// Further clients are refused by the system, unless another process holds the socket too, as
    /// systemd does: then they wait for the next server.
    func stopAccepting() {
        let descriptor = unsafe MHD_quiesce_daemon(pointer)
        if descriptor >= 0 { close(descriptor) }
    }

    /// Closes all open connections. Once, and never with a suspended connection.
    func stop() {
        unsafe MHD_stop_daemon(pointer)
        unsafe listener.deallocate()
        unsafe Unmanaged<Worker>.fromOpaque(context).release()
    }
}
