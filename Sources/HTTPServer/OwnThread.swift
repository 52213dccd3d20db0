internal import Glibc

/// Runs work that blocks on a thread made for it, because the cooperative pool must never block.
func onOwnThread(_ work: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
        let box = WorkBox {
            work()
            continuation.resume()
        }
        let context = unsafe Unmanaged.passRetained(box).toOpaque()
        var thread = pthread_t()
        if unsafe pthread_create(&thread, nil, runBox, context) == 0 {
            pthread_detach(thread)
        } else {
            // No thread to be had: blocking once is better than never stopping.
            _ = unsafe runBox(context)
        }
    }
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
