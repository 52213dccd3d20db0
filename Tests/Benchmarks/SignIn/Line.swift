import Glibc
import JSON

/// One kept connection to a server on this machine: a request, its answer, the next one.
final class Line {
    private let descriptor: Int32
    private var received: [UInt8] = []
    private var buffer = [UInt8](repeating: 0, count: 64 * 1024)

    init(port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = PlainHTTP.loopback(port)
        let isConnected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard descriptor >= 0, isConnected else { throw BenchmarkFailure("Nobody listens.") }
        var on: Int32 = 1
        setsockopt(
            descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on,
            socklen_t(MemoryLayout<Int32>.size))
    }

    deinit {
        close(descriptor)
    }

    struct Answer {
        let status: Int
        let body: [UInt8]

        var json: JSON? { try? JSON.parse(body) }
    }

    func send(_ request: [UInt8]) throws -> Answer {
        guard Glibc.send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count
        else { throw BenchmarkFailure("The connection was closed.") }
        while true {
            if let answer = taken() { return answer }
            let length = recv(descriptor, &buffer, buffer.count, 0)
            guard length > 0 else {
                let line = String(decoding: request.prefix { $0 != 13 }, as: UTF8.self)
                throw BenchmarkFailure("Closed instead of answered: \(line) (\(errno))")
            }
            received += buffer[..<length]
        }
    }

    /// The answer, once all of it is there: its length always stands in its head.
    private func taken() -> Answer? {
        let end: [UInt8] = [13, 10, 13, 10]
        guard
            let head = received.indices.first(where: { received[$0...].starts(with: end) })
        else { return nil }
        let text = String(decoding: received[..<head], as: UTF8.self)
        let length =
            text.split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-length:") }
            .flatMap { Int($0.dropFirst(15).filter { $0 != " " }) } ?? 0
        let start = head + end.count
        guard received.count >= start + length else { return nil }
        let answer = Answer(
            status: Int(text.dropFirst(9).prefix(3)) ?? 0,
            body: Array(received[start..<start + length]))
        received.removeFirst(start + length)
        return answer
    }
}

/// The bytes of requests.
struct Requests: Sendable {
    let host: String

    func post(
        _ path: String, _ body: String, type: String = "application/x-www-form-urlencoded",
        token: String? = nil
    ) -> [UInt8] {
        let bearer = token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
        return Array(
            """
            POST \(path) HTTP/1.1\r\nHost: \(host)\r\n\(bearer)Content-Type: \(type)\r\n\
            Content-Length: \(body.utf8.count)\r\n\r\n\(body)
            """.utf8)
    }

    func get(_ path: String) -> [UInt8] {
        Array("GET \(path) HTTP/1.1\r\nHost: \(host)\r\n\r\n".utf8)
    }
}
