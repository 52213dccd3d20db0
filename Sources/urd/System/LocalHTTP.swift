import Glibc

/// One plain request to a listener of this machine.
enum LocalHTTP {
    /// The status that a path is answered with; nil where nothing answers within two seconds. Blocks.
    static func status(of path: String, address: String, port: UInt16) -> Int? {
        let descriptor = socket(
            AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var patience = timeval(tv_sec: 2, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(
                descriptor, SOL_SOCKET, option, &patience, socklen_t(MemoryLayout<timeval>.size))
        }
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_port = port.bigEndian
        let host = address == "0.0.0.0" ? "127.0.0.1" : address
        guard inet_pton(AF_INET, host, &place.sin_addr) == 1 else { return nil }
        let connected = withUnsafePointer(to: place) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { return nil }
        let request = Array(
            "GET \(path) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n".utf8)
        guard Glibc.send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) > 0
        else {
            return nil
        }
        var answer = [UInt8](repeating: 0, count: 256)
        let count = recv(descriptor, &answer, answer.count, 0)
        guard count > 0 else { return nil }
        // "HTTP/1.1 200 OK"
        let words = String(decoding: answer.prefix(count), as: UTF8.self).split(separator: " ")
        guard words.count > 1, words[0].hasPrefix("HTTP/1.") else { return nil }
        return Int(words[1].prefix(3))
    }
}
