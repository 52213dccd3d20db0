import API

import struct Mail.MailAddress

/// A setting that an operator may choose: its name, its meaning, how its text is read.
///
/// From it come the flag (`--listen-port`), the environment variable (`URD_LISTEN_PORT`), for a
/// secret also the variable that names a file (`URD_DATABASE_URL_FILE`) and the systemd credential
/// (`database_url`), the help text and the line of `urd config print`.
struct Setting<Value: Sendable>: AnySetting {
    let name: String
    let placeholder: String
    let defaultText: String?
    let summary: String
    let isSecret: Bool
    /// The name under which systemd hands it in (`LoadCredential=`); for a setting that is a file,
    /// the credential is that file.
    let credential: Credential
    let absent: Value?
    let read: @Sendable (String) -> Value?
    /// What a text must be, for the message when it isn't: "a port from 1 to 65535".
    let expected: String

    func check(_ text: String) -> Bool { read(text) != nil }
}

/// How systemd may hand a setting in.
enum Credential: Equatable, Sendable {
    case none
    /// The credential's content is the value.
    case content(String)
    /// The credential's path is the value.
    case path(String)
}

/// A setting of any type, as help and `urd config print` see it.
protocol AnySetting: Sendable {
    var name: String { get }
    var placeholder: String { get }
    var defaultText: String? { get }
    var summary: String { get }
    var isSecret: Bool { get }
    var credential: Credential { get }
    var expected: String { get }

    func check(_ text: String) -> Bool
}

extension AnySetting {
    /// `database-url` is `URD_DATABASE_URL`.
    var variable: String {
        "URD_" + String(name.map { $0 == "-" ? "_" : Character($0.uppercased()) })
    }

    /// Only secrets are read from files: all else may stand in the unit file.
    var fileVariable: String? { isSecret ? variable + "_FILE" : nil }

    var option: Option { .value(name, placeholder, summary) }

    var helpSummary: String {
        var text = "\(summary) [\(variable)"
        if let fileVariable { text += " or \(fileVariable)" }
        if let defaultText { text += ", default \(defaultText)" }
        return text + "]"
    }
}

// MARK: - The types a setting can have

extension Setting where Value == String? {
    static func text(
        _ name: String, _ placeholder: String, secret: Bool = false,
        credential: Credential = .none, _ summary: String
    ) -> Setting {
        Setting(
            name: name, placeholder: placeholder, defaultText: nil, summary: summary,
            isSecret: secret, credential: credential, absent: .some(nil),
            read: { $0.isEmpty ? nil : .some($0) }, expected: "a text that is not empty")
    }

    /// libpq takes the address of anything else for the name of a database.
    static func database(_ name: String, credential: String, _ summary: String) -> Setting {
        Setting(
            name: name, placeholder: "url", defaultText: nil, summary: summary,
            isSecret: true, credential: .content(credential), absent: .some(nil),
            read: { text in
                let scheme = text.prefix(while: { $0 != "=" }).split(separator: "://").first ?? ""
                let isOther =
                    text.dropFirst(scheme.count).hasPrefix("://")
                    && !["postgresql", "postgres"].contains(scheme)
                return text.isEmpty || isOther ? nil : .some(text)
            }, expected: "an address such as postgresql://urd_app@host/urd")
    }
}

extension Setting where Value == String {
    static func text(
        _ name: String, _ placeholder: String, default defaultText: String, _ summary: String
    ) -> Setting {
        Setting(
            name: name, placeholder: placeholder, defaultText: defaultText, summary: summary,
            isSecret: false, credential: .none, absent: nil,
            read: { $0.isEmpty ? nil : $0 }, expected: "a text that is not empty")
    }

    static func choice(
        _ name: String, _ choices: [String], default defaultText: String, _ summary: String
    ) -> Setting {
        Setting(
            name: name, placeholder: choices.joined(separator: "|"), defaultText: defaultText,
            summary: summary, isSecret: false, credential: .none, absent: nil,
            read: { choices.contains($0) ? $0 : nil },
            expected: "one of " + choices.joined(separator: ", "))
    }
}

extension Setting where Value == Int {
    static func count(
        _ name: String, _ range: ClosedRange<Int>, default value: Int, _ summary: String
    ) -> Setting {
        Setting(
            name: name, placeholder: "count", defaultText: String(value), summary: summary,
            isSecret: false, credential: .none, absent: nil,
            read: { text in Int(text).flatMap { range.contains($0) ? $0 : nil } },
            expected: "a whole number from \(range.lowerBound) to \(range.upperBound)")
    }

    static func bytes(
        _ name: String, _ range: ClosedRange<Int>, default defaultText: String, _ summary: String
    ) -> Setting {
        Setting(
            name: name, placeholder: "size", defaultText: defaultText, summary: summary,
            isSecret: false, credential: .none, absent: nil,
            read: { text in Measure.bytes(text).flatMap { range.contains($0) ? $0 : nil } },
            expected: "a size such as 32KiB or 1MiB, from \(range.lowerBound) to "
                + "\(range.upperBound) bytes")
    }
}

extension Setting where Value == UInt16 {
    static func port(_ name: String, default value: UInt16, _ summary: String) -> Setting {
        Setting(
            name: name, placeholder: "port", defaultText: String(value), summary: summary,
            isSecret: false, credential: .none, absent: nil,
            read: { UInt16($0) }, expected: "a port from 0 to 65535 (0: any free one)")
    }
}

extension Setting where Value == MailAddress {
    static func mailAddress(
        _ name: String, default defaultText: String, _ summary: String
    ) -> Setting {
        Setting(
            name: name, placeholder: "address", defaultText: defaultText, summary: summary,
            isSecret: false, credential: .none, absent: nil,
            read: { text in try? MailAddress(text) }, expected: "a mail address")
    }
}

extension Setting where Value == [Network] {
    /// No networks by default.
    static func networks(_ name: String, _ summary: String) -> Setting {
        Setting(
            name: name, placeholder: "networks", defaultText: nil, summary: summary,
            isSecret: false, credential: .none, absent: [], read: { Network.list($0) },
            expected: "addresses or ranges such as 10.0.0.0/8, with commas between them")
    }
}

extension Setting where Value == Duration {
    static func duration(
        _ name: String, _ range: ClosedRange<Duration>, default defaultText: String,
        _ summary: String
    ) -> Setting {
        Setting(
            name: name, placeholder: "time", defaultText: defaultText, summary: summary,
            isSecret: false, credential: .none, absent: nil,
            read: { text in Measure.duration(text).flatMap { range.contains($0) ? $0 : nil } },
            expected: "a time such as 500ms, 10s, 2m or 1h, from \(range.lowerBound) to "
                + "\(range.upperBound)")
    }
}

/// Quantities with a unit.
enum Measure {
    static func duration(_ text: String) -> Duration? {
        let units: [(String, Int64)] = [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000)]
        guard let (number, factor) = split(text, units) else { return nil }
        let (milliseconds, overflow) = number.multipliedReportingOverflow(by: factor)
        return overflow ? nil : .milliseconds(milliseconds)
    }

    static func bytes(_ text: String) -> Int? {
        let units: [(String, Int64)] = [
            ("KiB", 1024), ("MiB", 1024 * 1024), ("GiB", 1024 * 1024 * 1024), ("B", 1), ("", 1),
        ]
        guard let (number, factor) = split(text, units) else { return nil }
        let (bytes, overflow) = number.multipliedReportingOverflow(by: factor)
        return overflow ? nil : Int(bytes)
    }

    private static func split(_ text: String, _ units: [(String, Int64)]) -> (Int64, Int64)? {
        let digits = text.prefix(while: { $0.isASCII && $0.isNumber })
        let unit = text.dropFirst(digits.count)
        guard let number = Int64(digits), let match = units.first(where: { $0.0 == unit }) else {
            return nil
        }
        return (number, match.1)
    }
}
