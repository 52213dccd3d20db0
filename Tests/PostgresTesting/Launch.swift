public import Foundation

extension Process {
    /// Starts a child that hears every signal. It inherits the mask of the thread that starts it,
    /// and the threads of Swift's pool block nearly all: a shell would never learn that its child
    /// has ended, and nothing but SIGKILL would end a server.
    public func launchUnmasked() throws {
        var none = sigset_t()
        var before = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        try run()
    }
}
