import Glibc

/// A client that sends exactly the bytes it is told to, good or bad.
///
/// Its calls block, so they belong into `offPool`: the handlers under test need the pool's threads.
final class Client {
    struct Reply: Equatable {
        var status: Int
        var headers: [(name: String, value: String)]
        var body: [UInt8]

        static func == (left: Reply, right: Reply) -> Bool {
            left.status == right.status && left.body == right.body
        }

        subscript(name: String) -> String? {
            let found = headers.filter { $0.name.lowercased() == name.lowercased() }
            return found.count == 1 ? found[0].value : nil
        }

        var text: String { String(decoding: body, as: UTF8.self) }
    }

    enum Trouble: Error { case connect, send, closed, timeout, malformed }

    let descriptor: Int32
    private var buffer: [UInt8] = []
    private var isOpen = true

    init(
        _ port: UInt16, address: String = "127.0.0.1", from source: String = "127.0.0.1",
        patience: Int = 10, receiveBuffer: Int32? = nil
    ) throws {
        let isVersion6 = address.contains(":")
        let family = isVersion6 ? AF_INET6 : AF_INET
        descriptor = socket(family, Int32(SOCK_STREAM.rawValue), 0)
        var limit = timeval(tv_sec: patience, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
        if var receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, 4)
        }
        let result: Int32
        if isVersion6 {
            var target = sockaddr_in6()
            target.sin6_family = sa_family_t(AF_INET6)
            target.sin6_port = port.bigEndian
            inet_pton(AF_INET6, address, &target.sin6_addr)
            result = withAddress(&target) { connect(descriptor, $0, $1) }
        } else {
            var target = sockaddr_in()
            target.sin_family = sa_family_t(AF_INET)
            inet_pton(AF_INET, source, &target.sin_addr)
            if source != address { _ = withAddress(&target) { bind(descriptor, $0, $1) } }
            target.sin_port = port.bigEndian
            inet_pton(AF_INET, address, &target.sin_addr)
            result = withAddress(&target) { connect(descriptor, $0, $1) }
        }
        if result != 0 {
            Glibc.close(descriptor)
            isOpen = false
            throw Trouble.connect
        }
    }

    deinit { close() }

    func close() {
        if isOpen { Glibc.close(descriptor) }
        isOpen = false
    }

    /// Closes with a reset, as a client does that dies.
    func vanish() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        close()
    }

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Trouble.send }
            sent += count
        }
    }

    /// The next response; without a body after HEAD.
    func receive(head: Bool = false) throws -> Reply {
        var reply = try receiveHead()
        let length = reply["Content-Length"].flatMap { Int($0) } ?? 0
        if head || [100, 204, 304].contains(reply.status) { return reply }
        while buffer.count < length { try fill() }
        reply.body = Array(buffer[..<length])
        buffer.removeFirst(length)
        return reply
    }

    /// What stands before the body of the next response.
    func receiveHead() throws -> Reply {
        let lines = try receive(to: "\r\n\r\n").split(
            separator: "\r\n", omittingEmptySubsequences: false)
        let words = lines[0].split(separator: " ", maxSplits: 2)
        guard words.count >= 2, words[0] == "HTTP/1.1", let status = Int(words[1]) else {
            throw Trouble.malformed
        }
        var reply = Reply(status: status, headers: [], body: [])
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { throw Trouble.malformed }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            reply.headers.append((String(line[..<colon]), String(value)))
        }
        return reply
    }

    /// The next chunk of a body; the last one is empty.
    func receiveChunk() throws -> [UInt8] {
        guard let length = Int(try receive(to: "\r\n"), radix: 16) else { throw Trouble.malformed }
        while buffer.count < length + 2 { try fill() }
        guard buffer[length] == 13, buffer[length + 1] == 10 else { throw Trouble.malformed }
        defer { buffer.removeFirst(length + 2) }
        return Array(buffer[..<length])
    }

    /// The rest of a body that comes in chunks, and whether its last chunk came.
    func receiveChunks() throws -> (text: String, isWhole: Bool) {
        var body: [UInt8] = []
        while true {
            do {
                let chunk = try receiveChunk()
                if chunk.isEmpty { return (String(decoding: body, as: UTF8.self), true) }
                body += chunk
            } catch Trouble.closed {
                return (String(decoding: body, as: UTF8.self), false)
            }
        }
    }

    /// All that comes until the server closes the connection.
    func receiveAll() -> [UInt8] {
        while (try? fill()) != nil {}
        return buffer
    }

    private func receive(to end: String) throws -> String {
        while true {
            if let range = buffer.firstRange(of: Array(end.utf8)) {
                defer { buffer.removeSubrange(..<range.upperBound) }
                return String(decoding: buffer[..<range.lowerBound], as: UTF8.self)
            }
            try fill()
        }
    }

    private func fill() throws {
        var chunk = [UInt8](repeating: 0, count: 65536)
        let count = recv(descriptor, &chunk, chunk.count, 0)
        if count < 0 { throw errno == EAGAIN ? Trouble.timeout : Trouble.closed }
        if count == 0 { throw Trouble.closed }
        buffer += chunk[..<count]
    }

    /// Whether a part of a response is there that was never completed.
    var hasBegunReply: Bool { !buffer.isEmpty }

    /// Whether the server has closed the connection and said nothing more before.
    func isClosedByServer() -> Bool {
        var byte: UInt8 = 0
        let count = recv(descriptor, &byte, 1, 0)
        return buffer.isEmpty && (count == 0 || (count < 0 && errno != EAGAIN))
    }
}

extension Array where Element == UInt8 {
    fileprivate func firstRange(of pattern: [UInt8]) -> Range<Int>? {
        guard count >= pattern.count else { return nil }
        for start in 0...(count - pattern.count)
        where self[start..<(start + pattern.count)].elementsEqual(pattern) {
            return start..<(start + pattern.count)
        }
        return nil
    }
}

private func withAddress<Address>(
    _ address: inout Address, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
) -> Int32 {
    withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            body($0, socklen_t(MemoryLayout<Address>.size))
        }
    }
}
