internal import Glibc

/// A thread of our own, for work that blocks: the cooperative pool never may.
public enum Thread {
    private final class Body {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }

    public static func start(_ run: @escaping @Sendable () -> Void) {
        var thread = pthread_t()
        let body = unsafe Unmanaged.passRetained(Body(run))
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        unsafe pthread_attr_setstacksize(&attributes, 1 << 20)
        let failed = unsafe pthread_create(&thread, &attributes, enter, body.toOpaque())
        unsafe pthread_attr_destroy(&attributes)
        precondition(failed == 0, "A thread can be started.")
    }

    public static func sleep(milliseconds: Int) {
        usleep(UInt32(milliseconds) * 1000)
    }

    private static let enter:
        @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = {
            context in
            guard let context = unsafe context else { return nil }
            unsafe Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
            return nil
        }
}
