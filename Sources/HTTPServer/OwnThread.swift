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
    unsafe Unmanaged<WorkBox>.fromOpaque(context).takeRetainedValue().work()
    return nil
}
