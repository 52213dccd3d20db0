import Glibc
import Testing

@testable import Systemd

/// The supervisor's end of NOTIFY_SOCKET.
///
/// Each test runs in a process of its own, because the environment belongs to the whole process.
final class Supervisor {
    private let descriptor: Int32

    init() {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        let path = "/tmp/urd-notify-\(getpid())"
        unlink(path)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        precondition(bound == 0, "the supervisor's socket is bound")
        var patience = timeval(tv_sec: 5, tv_usec: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        setenv("NOTIFY_SOCKET", path, 1)
    }

    func next() -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count >= 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }

    deinit {
        close(descriptor)
        unlink("/tmp/urd-notify-\(getpid())")
    }
}

@Suite struct `A service under systemd` {
    @Test func `a service under systemd reports its start, its status and its stop`() async {
        await #expect(processExitsWith: .success) {
            let supervisor = Supervisor()
            Notification.ready()
            #expect(supervisor.next() == "READY=1")
            Notification.ready(status: "Serving")
            #expect(supervisor.next() == "READY=1\nSTATUS=Serving")
            Notification.status("Waiting for PostgreSQL")
            #expect(supervisor.next() == "STATUS=Waiting for PostgreSQL")
            Notification.stopping()
            #expect(supervisor.next() == "STOPPING=1")
        }
    }

    @Test func `a service's status text cannot add other notifications`() async {
        await #expect(processExitsWith: .success) {
            let supervisor = Supervisor()
            Notification.status("a\nMAINPID=1\r\u{0}b")
            #expect(supervisor.next() == "STATUS=a MAINPID=1  b")
        }
    }

    @Test func `a healthy service pings its watchdog at half of the interval`() async {
        await #expect(processExitsWith: .success) {
            let supervisor = Supervisor()
            setenv("WATCHDOG_USEC", "20000", 1)
            setenv("WATCHDOG_PID", "\(getpid())", 1)
            let watchdog = try #require(Watchdog.configured())
            #expect(watchdog.interval == .milliseconds(10))
            let healthy = Task { await watchdog.run() }
            #expect(supervisor.next() == "WATCHDOG=1")
            #expect(supervisor.next() == "WATCHDOG=1")
            healthy.cancel()
            await healthy.value
            Notification.status("over")
            while let message = supervisor.next(), message != "STATUS=over" {
                #expect(message == "WATCHDOG=1")
            }
            let (questions, question) = AsyncStream.makeStream(of: Void.self)
            let ill = Task {
                await watchdog.run {
                    question.yield()
                    return false
                }
            }
            var asked = questions.makeAsyncIterator()
            await asked.next()
            await asked.next()
            ill.cancel()
            await ill.value
            Notification.status("silent")
            #expect(supervisor.next() == "STATUS=silent")
        }
    }

    @Test func `a service ignores a watchdog that is meant for another process`() async {
        await #expect(processExitsWith: .success) {
            #expect(Watchdog.configured() == nil)
            setenv("WATCHDOG_USEC", "20000", 1)
            setenv("WATCHDOG_PID", "1", 1)
            #expect(Watchdog.configured() == nil)
        }
    }

    @Test func `a service runs without a supervisor`() async {
        await #expect(processExitsWith: .success) {
            unsetenv("NOTIFY_SOCKET")
            Notification.ready()
            Notification.stopping()
            setenv("NOTIFY_SOCKET", "/nonexistent/socket", 1)
            Notification.ready()
            Notification.stopping()
        }
    }
}
