import Glibc
import Testing

@testable import Systemd

/// Stands in for systemd: puts descriptors at 3 and up for the length of a call, and tells of them
/// in the environment.
private func handingOver<Result>(
    _ descriptors: [Int32], names: String?, _ body: () -> Result
) -> Result {
    let places = Int32(3)..<Int32(3 + descriptors.count)
    let copies = descriptors.map { fcntl($0, F_DUPFD, 100) }
    let kept = places.map { fcntl($0, F_DUPFD_CLOEXEC, 100) }
    for (place, copy) in zip(places, copies) { dup2(copy, place) }
    setenv("LISTEN_PID", "\(getpid())", 1)
    setenv("LISTEN_FDS", "\(descriptors.count)", 1)
    if let names { setenv("LISTEN_FDNAMES", names, 1) }
    defer {
        for (place, old) in zip(places, kept) where old >= 0 { dup2(old, place) }
    }
    return body()
}

private func handedOver() -> [ListeningSocket]? {
    try? ListeningSocket.handedOver()
}

private func refusal() -> Failure? {
    do throws(Failure) {
        _ = try ListeningSocket.handedOver()
        return nil
    } catch {
        return error
    }
}

private func listener() -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    listen(descriptor, 1)
    return descriptor
}

@Suite struct `Socket activation` {
    @Test func `socket activation hands over listening sockets with their names`() async {
        await #expect(processExitsWith: .success) {
            handingOver([listener(), listener()], names: "public:private") {
                let sockets = handedOver() ?? []
                #expect(sockets.map(\.descriptor) == [3, 4])
                #expect(sockets.map(\.name) == ["public", "private"])
                #expect(fcntl(3, F_GETFD) & FD_CLOEXEC != 0)
                #expect(getenv("LISTEN_FDS") == nil)
                #expect(handedOver()?.isEmpty == true)
            }
        }
    }

    @Test func `socket activation calls a socket without a name unknown`() async {
        await #expect(processExitsWith: .success) {
            handingOver([listener()], names: nil) {
                #expect(handedOver()?.map(\.name) == ["unknown"])
            }
        }
    }

    @Test func `socket activation refuses sockets that are not listening streams`() async {
        await #expect(processExitsWith: .success) {
            let datagram = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
            let idle = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            for descriptor in [open("/dev/null", O_RDONLY), datagram, idle] {
                handingOver([descriptor], names: nil) {
                    #expect(refusal()?.code == .notAListeningSocket)
                }
            }
        }
    }

    @Test func `socket activation refuses an unreadable environment`() async {
        await #expect(processExitsWith: .success) {
            setenv("LISTEN_PID", "\(getpid())", 1)
            setenv("LISTEN_FDS", "many", 1)
            let failure = refusal()
            #expect(failure?.code == .unreadableSockets)
            #expect(failure?.description.contains("sd_") == false)
        }
    }

    @Test func `socket activation hands over nothing without systemd or to another process`() async
    {
        await #expect(processExitsWith: .success) {
            #expect(handedOver()?.isEmpty == true)
            setenv("LISTEN_PID", "1", 1)
            setenv("LISTEN_FDS", "1", 1)
            #expect(handedOver()?.isEmpty == true)
        }
    }
}
