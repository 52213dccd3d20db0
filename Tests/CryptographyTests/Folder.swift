import Glibc

/// Whether the `openssl` command can be asked.
enum Command {
    static let isThere = system("openssl version >/dev/null 2>&1") == 0
}

/// A folder of its own for each test, removed with everything in it.
final class Folder {
    private struct Unreadable: Error {}
    private let path: String

    init() throws {
        var template = Array("/tmp/cryptography-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Unreadable() }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { _ = system("rm -r '\(path)'") }

    func run(_ command: String) -> Bool {
        system("cd '\(path)' && { \(command); } >/dev/null") == 0
    }

    func write(_ bytes: [UInt8], _ name: String) throws {
        guard let file = fopen("\(path)/\(name)", "w") else { throw Unreadable() }
        defer { fclose(file) }
        guard fwrite(bytes, 1, bytes.count, file) == bytes.count else { throw Unreadable() }
    }

    func read(_ name: String) throws -> [UInt8] {
        guard let file = fopen("\(path)/\(name)", "r") else { throw Unreadable() }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 65536)
        let count = fread(&bytes, 1, bytes.count, file)
        return Array(bytes.prefix(count))
    }
}
