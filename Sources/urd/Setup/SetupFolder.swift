import Glibc

/// The folder of the installation's configuration: its master key, its secrets and its settings.
struct SetupFolder: Sendable {
    static let standard = "/etc/urd"

    let path: String

    init(_ path: String) throws(SystemFailure) {
        self.path = try Path.absolute(path)
    }

    var masterKey: String { path + "/master.key" }
    var settings: String { path + "/urd.env" }
    var lock: String { path + "/.setup.lock" }

    /// The file of a secret, as the units and `urd-admin` name it.
    func secret(_ setting: any AnySetting) -> String { "\(path)/\(setting.name)" }

    func make() throws(SystemFailure) {
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw SystemFailure("create", path)
        }
    }

    func keep(_ secret: String, of setting: any AnySetting) throws(SystemFailure) {
        try File.writeAtomically(Array(secret.utf8) + [10], to: self.secret(setting), mode: 0o600)
    }

    /// Adds settings that the file does not have yet; what an operator wrote stays.
    /// - Returns: the names of the variables that were added.
    func add(_ values: [(variable: String, text: String)]) throws(SystemFailure) -> [String] {
        let text = File.exists(settings) ? try File.text(settings) : ""
        let known = Set(
            text.split(whereSeparator: \.isNewline).map { $0.prefix(while: { $0 != "=" }) })
        let new = values.filter { !known.contains(Substring($0.variable)) }
        guard !new.isEmpty else { return [] }
        let start = text.isEmpty || text.hasSuffix("\n") ? text : text + "\n"
        let lines = new.map { "\($0.variable)=\(Self.quoted($0.text))\n" }
        let mode = File.facts(settings)?.permissions ?? 0o600
        try File.writeAtomically(
            Array((start + lines.joined()).utf8), to: settings, mode: mode)
        return new.map(\.variable)
    }

    /// As systemd and a shell both read it.
    static func quoted(_ text: String) -> String {
        let isPlain = text.allSatisfy { character in
            character.isASCII && (character.isLetter || character.isNumber)
                || "._-/:@,+".contains(character)
        }
        if isPlain { return text }
        var quoted = ""
        for character in text {
            if "\"\\$`".contains(character) { quoted += "\\" }
            quoted.append(character)
        }
        return "\"\(quoted)\""
    }
}
