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
        let head: [UInt8]
        let body: [UInt8]

        var json: JSON? { try? JSON.parse(body) }
        var failure: BenchmarkFailure { BenchmarkFailure(String(decoding: body, as: UTF8.self)) }

        /// What the fields of its head say that have this name.
        func fields(_ name: StaticString) -> [Substring] {
            var found: [Substring] = []
            var rest = head[...]
            while let place = Line.place(of: name, in: Array(rest)) {
                let value = rest[(rest.startIndex + place + name.utf8CodeUnitCount)...]
                    .prefix { $0 != 13 }
                found.append(Substring(decoding: value, as: UTF8.self))
                rest = head[value.endIndex...]
            }
            return found
        }

        /// Found without reading all of it.
        var refreshToken: String? {
            guard let name = Line.place(of: "\"refresh_token\":\"", in: body) else { return nil }
            return String(decoding: body[(name + 17)...].prefix { $0 != 34 }, as: UTF8.self)
        }
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
        guard let head = Line.place(of: "\r\n\r\n", in: received) else { return nil }
        let start = head + 4
        var length = 0
        if let field = Line.place(of: "Content-Length: ", in: received), field < head {
            for digit in received[(field + 16)..<head].prefix(while: { $0 != 13 }) {
                length = length * 10 + Int(digit) - 48
            }
        }
        guard received.count >= start + length else { return nil }
        let status = received[9..<12].reduce(0) { $0 * 10 + Int($1) - 48 }
        let answer = Answer(
            status: status, head: Array(received[..<start]),
            body: Array(received[start..<start + length]))
        received.removeFirst(start + length)
        return answer
    }

    /// What is measured is the server: the client takes as little of the processors as it can.
    static func place(of text: StaticString, in bytes: [UInt8]) -> Int? {
        let count = text.utf8CodeUnitCount
        return bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return nil }
            var place = 0
            while place + count <= bytes.count {
                guard
                    let first = memchr(
                        start + place, Int32(text.utf8Start.pointee), bytes.count - place)
                else { return nil }
                place = UnsafeRawPointer(first) - start
                if place + count <= bytes.count, memcmp(first, text.utf8Start, count) == 0 {
                    return place
                }
                place += 1
            }
            return nil
        }
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

    func refresh(_ token: String) -> [UInt8] {
        post(
            "/connect/token",
            "grant_type=refresh_token&client_id=demo-native&refresh_token=\(token)")
    }

    func get(_ path: String, token: String? = nil) -> [UInt8] {
        let bearer = token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
        return Array("GET \(path) HTTP/1.1\r\nHost: \(host)\r\n\(bearer)\r\n".utf8)
    }
}
