import Testing
import Values

@testable import urd

@Suite("What a backup says of itself")
struct BackupTests {
    private let manifest = BackupManifest(
        at: Timestamp(seconds: 1_796_000_000), program: "0.1.0", schema: 40, isEncrypted: false,
        realms: ["demo": 42, "system": 7],
        parts: [.init(name: "urd.dump", size: 12, sha256: String(repeating: "ab", count: 32))])

    @Test func `a manifest is read as it was written`() {
        #expect(BackupManifest(manifest.written) == manifest)
    }

    @Test func `a manifest of which any byte is another is refused`() {
        let written = manifest.written
        for index in written.indices {
            var altered = written
            altered[index] ^= 1
            #expect(BackupManifest(altered) == nil, "byte \(index)")
            #expect(BackupManifest(Array(written[..<index])) == nil, "cut at \(index)")
        }
    }

    @Test func `a part outside the folder of the backup is refused`() {
        for name in ["/etc/passwd", "../urd.dump", "checkpoints/../../x"] {
            let other = BackupManifest(
                at: manifest.at, program: "0.1.0", schema: 40, isEncrypted: false, realms: [:],
                parts: [.init(name: name, size: 1, sha256: "")])
            #expect(BackupManifest(other.written) == nil, "\(name)")
        }
    }

    @Test func `a backup is named after its moment`() {
        #expect(BackupFolder.name(of: Timestamp(seconds: 0)) == "urd-19700101T000000Z")
    }
}
