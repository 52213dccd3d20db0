import Glibc
import JSON

/// Tokens, keys and codes for tests in other languages: a request on each line of the standard
/// input, its answer on a line of the standard output, both JSON. It ends when its input does.
///
///     {"do":"thumbprint","jwk":{…}}      {"value":"…"} or {"refused":"…"}
///
/// It keeps nothing between two requests, and has no clock: `now` is part of the request.
@main struct Main {
    static func main() {
        while let line = readLine() {
            let answer: JSON
            do {
                let request = Request(try JSON.parse(Array(line.utf8)))
                answer = ["value": try request.answer()]
            } catch {
                answer = ["refused": .string("\(error)")]
            }
            write(answer.canonical() + [UInt8(ascii: "\n")])
        }
    }

    private static func write(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(1, $0.baseAddress, $0.count) }
            guard written > 0 else { exit(74) }
            rest = rest.dropFirst(written)
        }
    }
}
