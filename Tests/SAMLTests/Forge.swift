import Foundation
import JSON
import SAML
import Testing
import Values

/// Assertions that pysaml2 and xmlsec1 made, once for all tests.
struct Forge: Sendable {
    struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    struct Key: Sendable {
        let certificate: [UInt8]
        let publicKey: [UInt8]
        let pem: String
    }

    let now: Timestamp
    let keys: [String: Key]
    let documents: [String: String]
    /// What xmlsec1 says of a document as it is often called: that there is a good signature in it.
    let careless: [String: Bool]

    private static let made = Result { try Forge() }
    static func forge() throws -> Forge { try made.get() }

    private init() throws {
        let process = Process()
        let output = Pipe()
        // Debian's own Python: it is the one that has Debian's packages.
        process.executableURL = URL(filePath: "/usr/bin/python3")
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        process.arguments = ["-B", "-W", "ignore", folder.appending(path: "forge.py").path]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Problem(description: "deploy/install-packages.sh test installs what is missing")
        }
        let read = try JSON.parse(Array(data), limits: JSON.Limits(depth: 8, size: 4 << 20))
        now = Timestamp(seconds: read["now"]?.integer ?? 0)
        keys = Self.members(read["keys"]).mapValues { key in
            Key(
                certificate: Base64.decode(key["certificate"]?.string ?? "") ?? [],
                publicKey: Base64.decode(key["public"]?.string ?? "") ?? [],
                pem: key["pem"]?.string ?? "")
        }
        let documents = Self.members(read["documents"])
        self.documents = documents.compactMapValues { $0["text"]?.string }
        careless = documents.compactMapValues { $0["careless"]?.bool }
    }

    private static func members(_ value: JSON?) -> [String: JSON] {
        Dictionary(
            uniqueKeysWithValues: (value?.object ?? [:]).map { (String($0.key), $0.value) })
    }

    func document(_ name: String) throws -> String {
        try #require(documents[name], "forge.py makes no '\(name)'")
    }

    func key(_ name: String) throws -> SAML.Key {
        try SAML.Key(certificate: #require(keys[name]).certificate)
    }

    func rules() throws -> SAML.Rules {
        SAML.Rules(
            issuers: [
                SAML.Issuer(name: "https://second.example", keys: [try key("attacker")]),
                SAML.Issuer(
                    name: "https://idp.example/metadata",
                    keys: try ["p256", "p384", "rsa", "old"].map(key)),
            ],
            audiences: ["https://id.example"], recipients: ["https://id.example/token"])
    }

    func verify(_ text: String, rules: SAML.Rules? = nil) throws -> SAML.Assertion {
        try SAML.verify(
            Base64URL.encode(Array(text.utf8)), rules: rules ?? self.rules(), at: now)
    }

    /// Why a text is refused, as an operator reads it; nil where it is accepted.
    func reason(_ text: String) throws -> String? {
        do {
            _ = try verify(text)
            return nil
        } catch let rejection as SAML.Rejection {
            return rejection.reason
        }
    }
}
