internal import Compression
internal import HTTP

/// Bodies that are compressed on their way, where the client takes that (RFC 9110 section 12.5.3).
enum ContentCoding {
    /// Whether gzip is taken, and nothing is taken rather.
    static func takesGzip(_ lines: [String]) -> Bool {
        var weights: [String: Int] = [:]
        for item in lines.flatMap({ $0.split(separator: ",") }) {
            let parts = item.split(separator: ";").map { Self.trimmed(Substring($0)) }
            guard let name = parts.first, !name.isEmpty else { continue }
            weights[name == "x-gzip" ? "gzip" : name] = weight(parts.dropFirst())
        }
        guard let gzip = weights["gzip"] ?? weights["*"], gzip > 0 else { return false }
        return gzip >= weights["identity"] ?? 0
    }

    private static func trimmed(_ text: Substring) -> String {
        String(
            decoding: text.utf8.filter { $0 != 0x20 && $0 != 0x09 }.map {
                (0x41...0x5A).contains($0) ? $0 + 0x20 : $0
            }, as: UTF8.self)
    }

    /// In thousandths. What is no weight is none at all.
    private static func weight(_ parameters: ArraySlice<String>) -> Int {
        guard let written = parameters.first(where: { $0.hasPrefix("q=") })?.dropFirst(2) else {
            return 1000
        }
        let parts = written.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let whole = Int(parts[0]), (0...1).contains(whole)
        else { return 0 }
        let digits = parts.count == 2 ? String(parts[1]) : ""
        let padded = digits + String(repeating: "0", count: max(0, 3 - digits.utf8.count))
        guard padded.utf8.count == 3, let rest = Int(padded), rest >= 0 else { return 0 }
        return min(1000, whole * 1000 + rest)
    }
}

extension Response {
    /// The same stream, compressed where the client takes that. Not for what mixes secrets with what others may
    /// write: the length of a compressed body tells how much of the one is like the other (decision 0142).
    func compressed(for request: Request) -> Response {
        guard let stream else { return self }
        var response = self
        response.headers["Vary"] = "Accept-Encoding"
        guard ContentCoding.takesGzip(request.headers.all("Accept-Encoding")) else {
            return response
        }
        response.headers["Content-Encoding"] = "gzip"
        response.stream = BodyStream { writer in
            let encoder = try GzipEncoder()
            let pace = FlushPace()
            try await stream.produce(
                BodyStream.Writer { piece in
                    let packed = try encoder.add(piece, flushing: pace.isDue())
                    if !packed.isEmpty { try await writer.write(packed) }
                })
            try await writer.write(try encoder.finish())
        }
        return response
    }
}
