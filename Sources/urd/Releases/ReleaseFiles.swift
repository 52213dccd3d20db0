import Cryptography
import EventStore
import JSON
import Values

/// The files of a release in one folder, held against its signed sums and the log that it is on record in.
struct ReleaseFiles {
    struct Finding {
        let part: String
        let result: String
        let isWrong: Bool

        init(_ part: String, _ result: String, isWrong: Bool = false) {
            self.part = part
            self.result = result
            self.isWrong = isWrong
        }
    }

    static let sums = "SHA256SUMS"
    static let signature = "SHA256SUMS.minisig"
    static let proof = "SHA256SUMS.proof.json"

    let folder: String
    private(set) var findings: [Finding] = []

    init(_ folder: String) { self.folder = folder }

    var areWhole: Bool { !findings.contains(where: \.isWrong) }

    /// Nothing else is looked at where the sums are not signed: an attacker could have written them.
    mutating func verify(file: String, key: MinisignKey, log: NoteVerifier?) throws {
        let sums = try File.bytes(path(Self.sums))
        guard
            let comment = try key.comment(of: File.text(path(Self.signature)), over: sums)
        else {
            findings.append(Finding(Self.sums, "not signed by this key", isWrong: true))
            return
        }
        findings.append(Finding(Self.sums, "signed: \(comment)"))
        try compare(String(decoding: sums, as: UTF8.self), with: file)
        if File.exists(path("urd.spdx.json")) { try compareList(with: comment) }
        guard let log else { return }
        let name = "\(comment) sha256:\(Hex.encode(SHA256.hash(sums)))"
        findings.append(try recordFinding(name, log))
    }

    private mutating func compare(_ sums: String, with file: String) throws {
        var isListed = false
        for line in sums.split(separator: "\n") {
            let parts = line.split(separator: " ", maxSplits: 1)
            let name = parts.last.map { String($0.drop { $0 == " " || $0 == "*" }) } ?? ""
            isListed = isListed || name == file
            guard name == file || File.exists(path(name)) else { continue }
            let bytes = try File.bytes(path(name), limit: 1 << 30)
            let isSame = parts.first.map { $0 == Hex.encode(SHA256.hash(bytes)) } ?? false
            findings.append(Finding(name, isSame ? "as signed" : "changed", isWrong: !isSame))
        }
        if !isListed, file != Self.sums {
            findings.append(Finding(file, "not of this release", isWrong: true))
        }
    }

    /// The bill of materials is of the version that was signed.
    private mutating func compareList(with comment: String) throws {
        let list = try JSON.parse(File.bytes(path("urd.spdx.json")))
        let own = list["packages"]?.array?.first { $0["SPDXID"]?.string == "SPDXRef-urd" }
        let version = own?["versionInfo"]?.string ?? ""
        guard comment != "urd \(version)" else { return }
        findings.append(
            Finding("urd.spdx.json", "of another version: \(version)", isWrong: true))
    }

    private func recordFinding(_ name: String, _ log: NoteVerifier) throws -> Finding {
        func wrong(_ what: String) -> Finding { Finding(Self.proof, what, isWrong: true) }
        guard File.exists(path(Self.proof)) else { return wrong("not there") }
        let proof = try JSON.parse(File.bytes(path(Self.proof)))
        guard proof["format"]?.string == "urd-inclusion/1",
            let position = proof["position"]?.integer, let record = proof["record"]?.string,
            let note = proof["checkpoint"]?.string, let steps = proof["path"]?.array
        else { return wrong("no proof") }
        guard let signed = SignedNote(Array(note.utf8)), signed.isSigned(by: log),
            let checkpoint = Checkpoint(text: signed.text), checkpoint.origin == log.name
        else { return wrong("its checkpoint is not signed by the log's key") }
        let path = steps.compactMap { $0.string.flatMap(Base64.decode).flatMap { TreeHash($0) } }
        guard path.count == steps.count, position > 0,
            MerkleProof.isIncluded(
                Merkle.leaf(Array(record.utf8)), at: position - 1, in: checkpoint.size,
                root: checkpoint.root, path: path)
        else { return wrong("the record is not in the log") }
        let event = try JSON.parse(Array(record.utf8))
        guard event["type"]?.string == "app.created", event["data"]?["name"]?.string == name else {
            return wrong("the record is of another release")
        }
        return Finding(
            Self.proof, "on record at position \(position) of \(checkpoint.size) in \(log.name)")
    }

    private func path(_ name: String) -> String { "\(folder)/\(name)" }
}
