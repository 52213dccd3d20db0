import Glibc
import Synchronization
import Threads

/// As much HTTP as a measurement needs, straight on sockets.
enum PlainHTTP {
    /// The status of a GET to this machine; nil while nobody listens.
    static func status(of path: String, port: UInt16) -> Int? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var address = loopback(port)
        let isConnected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else { return nil }
        let request = Array(
            "GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8)
        guard send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count
        else { return nil }
        var answer = [UInt8](repeating: 0, count: 512)
        let length = recv(descriptor, &answer, answer.count, 0)
        guard length > 12 else { return nil }
        return Int(String(decoding: answer[9..<12], as: UTF8.self))
    }

    static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }
}

/// Answers whatever comes with the same bytes, a thread for each connection: what the machine's
/// sockets can do when nobody thinks.
final class BareResponder: Sendable {
    let port: UInt16
    private let listener: Int32

    private static let answer = Array(
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok".utf8)

    init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = PlainHTTP.loopback(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let port: UInt16? = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 256) == 0
                    && getsockname(listener, $0, &length) == 0
            } ? UInt16(bigEndian: pointer.pointee.sin_port) : nil
        }
        guard let port else { throw BenchmarkFailure("No port to listen on.") }
        self.listener = listener
        self.port = port
        DedicatedThread.startRequired {
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { return }
                DedicatedThread.startRequired { Self.serve(connection) }
            }
        }
    }

    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    private static func serve(_ connection: Int32) {
        var request = [UInt8](repeating: 0, count: 4096)
        while recv(connection, &request, request.count, 0) > 0 {
            let sent = send(connection, answer, answer.count, Int32(MSG_NOSIGNAL))
            guard sent == answer.count else { break }
        }
        close(connection)
    }
}
