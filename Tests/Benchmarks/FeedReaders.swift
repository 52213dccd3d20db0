import Glibc
import Synchronization
import Threads

/// Many sockets that are read as fast as they bring something, by one thread.
final class FeedReaders: Sendable {
    private struct State {
        var bytes = 0
        /// What the first of them brought, and when.
        var first: (bytes: Int, at: ContinuousClock.Instant)?
        var last: ContinuousClock.Instant?
        /// How many have had an event, and when the last of them did. Where positions are looked for.
        var arrivals: [Int64: (count: Int, at: ContinuousClock.Instant)] = [:]
        var isOver = false
        var closed = 0
    }

    private let state = Mutex(State())
    private let sockets: [Int32]
    private let looksForPositions: Bool

    /// - Parameter requests: what each of them asks; nothing where the other side speaks first.
    init(port: UInt16, requests: [[UInt8]], looksForPositions: Bool = false) throws {
        self.looksForPositions = looksForPositions
        sockets = try requests.map { request in
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = PlainHTTP.loopback(port)
            let isConnected = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
            guard isConnected,
                send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count
            else { throw BenchmarkFailure("A reader cannot connect: errno \(errno).") }
            return descriptor
        }
        let (sockets, looks) = (sockets, looksForPositions)
        DedicatedThread.startRequired { [weak self] in
            Self.read(sockets, looks) { self?.note($0) ?? false }
        }
    }

    private struct Found {
        var bytes = 0
        var closed = 0
        var positions: [Int64] = []
    }

    /// False where nobody wants more.
    private func note(_ found: Found) -> Bool {
        let now = ContinuousClock.now
        return state.withLock { state in
            state.bytes += found.bytes
            if found.bytes > 0 {
                state.first = state.first ?? (found.bytes, now)
                state.last = now
            }
            state.closed += found.closed
            for position in found.positions {
                state.arrivals[position, default: (0, now)].count += 1
                state.arrivals[position]?.at = now
            }
            return !state.isOver
        }
    }

    private static func read(
        _ sockets: [Int32], _ looksForPositions: Bool, _ note: (Found) -> Bool
    ) {
        var polled = sockets.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        var buffer = [UInt8](repeating: 0, count: 256 * 1024)
        var rests = [[UInt8]](repeating: [], count: looksForPositions ? sockets.count : 0)
        while true {
            let count = poll(&polled, nfds_t(polled.count), 100)
            var found = Found()
            for index in polled.indices where count > 0 && polled[index].revents != 0 {
                let length = recv(sockets[index], &buffer, buffer.count, Int32(MSG_DONTWAIT))
                guard length > 0 else {
                    if length == 0 || errno != EAGAIN {
                        // It is looked at no more.
                        polled[index].fd = -1
                        found.closed += 1
                    }
                    continue
                }
                found.bytes += length
                guard looksForPositions else { continue }
                rests[index] += buffer.prefix(length)
                rests[index] = positions(in: rests[index], &found.positions)
            }
            guard note(found) else { break }
        }
        for descriptor in sockets { Glibc.close(descriptor) }
    }

    /// Of the lines `id: 1:42` behind which an event is whole.
    private static func positions(in bytes: [UInt8], _ found: inout [Int64]) -> [UInt8] {
        var start = 0
        var position: Int64?
        var frame = 0
        for (index, byte) in bytes.enumerated() where byte == 0x0A {
            let line = bytes[start..<index]
            if line.starts(with: "id: ".utf8), let colon = line.lastIndex(of: 0x3A) {
                position = Int64(String(decoding: line[(colon + 1)...], as: UTF8.self))
                frame = start
            } else if line.starts(with: "data: ".utf8) {
                if let position { found.append(position) }
                position = nil
                frame = index + 1
            } else if position == nil {
                frame = index + 1
            }
            start = index + 1
        }
        return Array(bytes[min(frame, bytes.count)...])
    }

    var bytes: Int { state.withLock { $0.bytes } }
    var closed: Int { state.withLock { $0.closed } }

    /// How much came behind the first that came, and in what time.
    var flow: (bytes: Int, seconds: Double) {
        state.withLock { state in
            guard let first = state.first, let last = state.last else { return (0, 0) }
            return (state.bytes - first.bytes, (last - first.at) / .seconds(1))
        }
    }

    func arrival(of position: Int64) -> (count: Int, at: ContinuousClock.Instant)? {
        state.withLock { $0.arrivals[position] }
    }

    /// Seconds until so many bytes were read in all.
    func wait(for bytes: Int, within limit: Duration = .seconds(60)) async throws {
        let deadline = ContinuousClock.now + limit
        while self.bytes < bytes {
            guard ContinuousClock.now < deadline else {
                throw BenchmarkFailure("Only \(self.bytes) of \(bytes) bytes came.")
            }
            try await Task.sleep(for: .microseconds(500))
        }
    }

    func close() { state.withLock { $0.isOver = true } }
}

/// Writes the same bytes to all who connect, in pieces and as fast as they take them: what sockets can do
/// where nobody thinks.
final class BareWriter: Sendable {
    let port: UInt16
    private let listener: Int32

    init(_ bytes: [UInt8], to count: Int, piece: Int = 16 * 1024) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = PlainHTTP.loopback(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let port: UInt16? = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 4096) == 0
                    && getsockname(listener, $0, &length) == 0
            } ? UInt16(bigEndian: pointer.pointee.sin_port) : nil
        }
        guard let port else { throw BenchmarkFailure("No port to listen on.") }
        (self.listener, self.port) = (listener, port)
        DedicatedThread.startRequired {
            var sockets: [Int32] = []
            while sockets.count < count {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { return }
                // What is not read when a socket is closed takes what was sent along.
                var asked: UInt8 = 0
                _ = recv(connection, &asked, 1, 0)
                sockets.append(connection)
            }
            Self.write(bytes, to: sockets, piece)
        }
    }

    private static func write(_ bytes: [UInt8], to sockets: [Int32], _ piece: Int) {
        var polled = sockets.map { pollfd(fd: $0, events: Int16(POLLOUT), revents: 0) }
        var sent = [Int](repeating: 0, count: sockets.count)
        var left = sockets.count
        bytes.withUnsafeBytes { bytes in
            while left > 0 {
                let count = poll(&polled, nfds_t(polled.count), 1000)
                for index in polled.indices where count > 0 && polled[index].revents != 0 {
                    let length = min(piece, bytes.count - sent[index])
                    let done = Glibc.send(
                        sockets[index], bytes.baseAddress?.advanced(by: sent[index]), length,
                        Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
                    if done > 0 { sent[index] += done }
                    if sent[index] == bytes.count || done < 0 && errno != EAGAIN {
                        polled[index].fd = -1
                        left -= 1
                    }
                }
            }
        }
        for descriptor in sockets { close(descriptor) }
    }

    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }
}
