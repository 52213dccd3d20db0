internal import Glibc

/// Runs work that blocks on a thread made for it, because the cooperative pool must never block.
/// False when the system has no thread for it.
func startThread(_ work: @escaping @Sendable () -> Void) -> Bool {
    let context = unsafe Unmanaged.passRetained(WorkBox(work)).toOpaque()
    var thread = pthread_t()
    guard unsafe pthread_create(&thread, nil, runBox, context) == 0 else {
        unsafe Unmanaged<WorkBox>.fromOpaque(context).release()
        return false
    }
    pthread_detach(thread)
    return true
}

private final class WorkBox: Sendable {
    let work: @Sendable () -> Void
    init(_ work: @escaping @Sendable () -> Void) { self.work = work }
}

private func runBox(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context = unsafe context else { return nil }
    // libcurl is told to leave signals alone (CURLOPT_NOSIGNAL): a peer that goes away in the
    // middle of a TLS write must not end the process.
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGPIPE)
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    unsafe Unmanaged<WorkBox>.fromOpaque(context).takeRetainedValue().work()
    return nil
}
