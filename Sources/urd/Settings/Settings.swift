import JSON
import Values

/// Where settings come from.
struct SettingsSources: Sendable {
    /// By option name.
    var flags: [String: [String]] = [:]
    var environment = Environment([:])
    /// The text of a file; nil when it cannot be read.
    var readFile: @Sendable (String) -> String? = { _ in nil }
}

/// One or more settings cannot be; all of them are named at once.
struct SettingsFailure: Error, Equatable, CustomStringConvertible {
    let problems: [String]

    var description: String { problems.joined(separator: "\n") }
}

/// The settings of this run. A flag beats the environment, that a file, that the default.
struct Settings: Sendable {
    /// The source of a setting's value.
    enum Origin: Equatable, Sendable {
        case flag
        case environment(String)
        case file(String)
        case credential(String)
        case defaultValue
        case unset

        var description: String {
            switch self {
            case .flag: "flag"
            case .environment(let variable): variable
            case .file(let path): path
            case .credential(let name): "credential \(name)"
            case .defaultValue: "default"
            case .unset: "unset"
            }
        }
    }

    struct Entry: Sendable {
        let setting: any AnySetting
        let text: String?
        let origin: Origin
    }

    private(set) var entries: [Entry] = []
    private var texts: [String: String] = [:]
    private var declared: Set<String> = []

    init(
        _ settings: [any AnySetting], from sources: SettingsSources, strictly: Bool = false
    ) throws(SettingsFailure) {
        var problems = strictly ? Self.unknownVariables(sources.environment) : []
        for setting in settings {
            do {
                let entry = try Self.find(setting, in: sources)
                if let text = entry.text, !setting.check(text) {
                    problems.append(Self.refusal(of: entry, text))
                }
                entries.append(entry)
                texts[setting.name] = entry.text
                declared.insert(setting.name)
            } catch {
                problems += error.problems
            }
        }
        if !problems.isEmpty { throw SettingsFailure(problems: problems) }
    }

    /// The value of a setting that the command declared.
    subscript<Value>(_ setting: Setting<Value>) -> Value {
        precondition(declared.contains(setting.name), "A command reads only settings it declares.")
        let value = texts[setting.name].flatMap(setting.read) ?? setting.absent
        guard let value else {
            preconditionFailure("A setting has a value, a default, or may be absent.")
        }
        return value
    }

    /// A value without which the command cannot do its work.
    func require(_ setting: Setting<String?>) throws(SettingsFailure) -> String {
        guard let value = self[setting] else {
            var ways = "--\(setting.name) or \(setting.variable)"
            if let file = setting.fileVariable { ways += " or \(file)" }
            throw SettingsFailure(problems: ["\(setting.name) is not set: give \(ways)"])
        }
        return value
    }
}

// MARK: - Looking

extension Settings {
    private static func find(
        _ setting: any AnySetting, in sources: SettingsSources
    ) throws(SettingsFailure) -> Entry {
        if let text = sources.flags[setting.name]?.first {
            return Entry(setting: setting, text: text, origin: .flag)
        }
        if let text = sources.environment[setting.variable] {
            return Entry(setting: setting, text: text, origin: .environment(setting.variable))
        }
        if let variable = setting.fileVariable, let path = sources.environment[variable] {
            guard let text = sources.readFile(path) else {
                throw SettingsFailure(problems: ["\(variable): cannot read the file \(path)"])
            }
            return Entry(setting: setting, text: firstLine(text), origin: .file(path))
        }
        if let directory = sources.environment["CREDENTIALS_DIRECTORY"] {
            switch setting.credential {
            case .none: break
            case .content(let name):
                // A unit hands an empty one in where the file is not there.
                if let text = sources.readFile("\(directory)/\(name)").map(firstLine), !text.isEmpty
                {
                    return Entry(setting: setting, text: text, origin: .credential(name))
                }
            case .path(let name):
                let path = "\(directory)/\(name)"
                if sources.readFile(path) != nil {
                    return Entry(setting: setting, text: path, origin: .credential(name))
                }
            }
        }
        if let text = setting.defaultText {
            return Entry(setting: setting, text: text, origin: .defaultValue)
        }
        return Entry(setting: setting, text: nil, origin: .unset)
    }

    /// Editors end a file with a newline that is not part of the secret.
    private static func firstLine(_ text: String) -> String {
        String(text.prefix(while: { !$0.isNewline }))
    }

    private static func refusal(of entry: Entry, _ text: String) -> String {
        let given = entry.setting.isSecret ? "" : ", not '\(text)'"
        let name =
            switch entry.origin {
            case .environment(let variable): variable
            case .flag, .file, .credential, .defaultValue, .unset: "--\(entry.setting.name)"
            }
        return "\(name) must be \(entry.setting.expected)\(given)"
    }

    private static func unknownVariables(_ environment: Environment) -> [String] {
        let known = Set(table.map(\.variable)).union(table.compactMap(\.fileVariable))
        return environment.names
            .filter { $0.hasPrefix("URD_") && !known.contains($0) && !otherVariables.contains($0) }
            .sorted()
            .map { name in
                "unknown environment variable \(name)"
                    + NearestName.hint(for: name, among: known.sorted())
            }
    }
}

// MARK: - Showing

extension Settings {
    var shown: Table {
        var rows = Table("setting", "value", "from")
        for entry in entries {
            rows.add(entry.setting.name, Self.value(of: entry), entry.origin.description)
        }
        return rows
    }

    var json: JSON {
        var members: JSONObject = [:]
        for entry in entries {
            var member: JSONObject = ["from": .string(entry.origin.description)]
            if entry.setting.isSecret {
                member["set"] = .bool(entry.text != nil)
            } else {
                member["value"] = entry.text.map { .string($0) } ?? .null
            }
            members[entry.setting.name] = .object(member)
        }
        return .object(members)
    }

    private static func value(of entry: Entry) -> String {
        if entry.setting.isSecret { return entry.text == nil ? "(unset)" : "(set)" }
        return entry.text ?? "(unset)"
    }
}
