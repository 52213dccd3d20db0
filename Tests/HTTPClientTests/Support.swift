import Foundation
import HTTP
import Testing

@testable import HTTPClient

/// Nobody is there: whoever asked the environment for a proxy would reach nothing. It is set once,
/// before the first call, because the environment must not change while threads read it.
let misleadingProxy: String = {
    let proxy = "http://127.0.0.1:1"
    for name in ["http_proxy", "https_proxy", "all_proxy"] { setenv(name, proxy, 1) }
    return proxy
}()

/// A server that others wrote, as a child process that ends with the test.
final class ChildServer: Sendable {
    struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    private let process: Process
    private let input: Pipe
    private let output: FileHandle
    let port: UInt16

    init(_ script: String, _ arguments: [String] = []) throws {
        precondition(!misleadingProxy.isEmpty, "The environment is set.")
        let process = Process()
        let input = Pipe()
        let output = Pipe()
        // Debian's own Python: it is the one that has Debian's packages.
        process.executableURL = URL(filePath: "/usr/bin/python3")
        process.arguments = ["-B", Self.folder + "/" + script] + arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        self.process = process
        self.input = input
        self.output = output.fileHandleForReading
        guard let port = UInt16(Self.line(of: self.output) ?? "") else {
            throw Problem(description: "\(script) gave no port")
        }
        self.port = port
    }

    deinit {
        kill(process.processIdentifier, SIGKILL)
    }

    /// What it says next.
    func line() -> String? { Self.line(of: output) }

    private static let folder = URL(filePath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().appending(path: "servers").path(percentEncoded: false)

    private static func line(of handle: FileHandle) -> String? {
        var line: [UInt8] = []
        while let byte = try? handle.read(upToCount: 1)?.first {
            if byte == 0x0A { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
        return nil
    }
}

/// A certificate authority made for one test, and what it signed; gone with the test.
final class Certificates: Sendable {
    let folder: String

    var authority: String { folder + "/ca.pem" }

    /// For a server on this machine, or for one with a name that is not asked for.
    func arguments(for name: String = "server") -> [String] {
        ["--certificate", "\(folder)/\(name).pem", "--key", "\(folder)/\(name).key"]
    }

    init() throws {
        var template = Array("/tmp/http-client-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw ChildServer.Problem(description: "mkdtemp") }
        folder = String(
            decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let curve = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
        try run("req -x509 \(curve) -keyout ca.key -out ca.pem -days 1 -subj /CN=Test")
        for (name, alternatives) in [
            ("server", "DNS:localhost,IP:127.0.0.1"), ("stranger", "DNS:elsewhere.example"),
        ] {
            try run("req \(curve) -keyout \(name).key -out \(name).csr -subj /CN=\(name)")
            try "subjectAltName=\(alternatives)\n".write(
                toFile: "\(folder)/\(name).ext", atomically: true, encoding: .utf8)
            try run(
                "x509 -req -in \(name).csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 1 "
                    + "-out \(name).pem -extfile \(name).ext")
        }
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
    }

    private func run(_ arguments: String) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/openssl")
        process.arguments = arguments.split(separator: " ").map(String.init)
        process.currentDirectoryURL = URL(filePath: folder)
        process.standardError = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw ChildServer.Problem(description: "openssl \(arguments)")
        }
    }
}
