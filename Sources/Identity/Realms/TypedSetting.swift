public import JSON

/// A setting together with the Swift type of its values.
public struct TypedSetting<Value: Sendable>: Sendable {
    public let setting: Setting
    @usableFromInline let fallback: Value
    /// Nil for a value of another type, which the rules exclude.
    @usableFromInline let read: @Sendable (JSON) -> Value?

    @inlinable public var name: String { setting.name }
}

/// How a setting is put into the catalogue, one function for each type of value.
enum Declare {
    static func flag(
        _ name: String, _ fallback: Bool, perApp: Bool = false, _ about: String
    ) -> TypedSetting<Bool> {
        TypedSetting(
            setting: Setting(
                name: name, about: about, kind: .flag, fallback: .bool(fallback),
                isRequired: false, perApp: perApp),
            fallback: fallback, read: \.bool)
    }

    static func seconds(
        _ name: String, _ fallback: Int64, in range: ClosedRange<Int64>, perApp: Bool = false,
        _ about: String
    ) -> TypedSetting<Int64> {
        number(
            name, .seconds(lowest: range.lowerBound, highest: range.upperBound), fallback, perApp,
            about)
    }

    static func count(
        _ name: String, _ fallback: Int64, in range: ClosedRange<Int64>, perApp: Bool = false,
        _ about: String
    ) -> TypedSetting<Int64> {
        number(
            name, .count(lowest: range.lowerBound, highest: range.upperBound), fallback, perApp,
            about)
    }

    private static func number(
        _ name: String, _ kind: Setting.Kind, _ fallback: Int64, _ perApp: Bool, _ about: String
    ) -> TypedSetting<Int64> {
        TypedSetting(
            setting: Setting(
                name: name, about: about, kind: kind, fallback: .integer(fallback),
                isRequired: false, perApp: perApp),
            fallback: fallback, read: \.integer)
    }

    static func choice<Choice: RawRepresentable<String> & CaseIterable & Sendable>(
        _ name: String, _ fallback: Choice, perApp: Bool = false, _ about: String
    ) -> TypedSetting<Choice> {
        TypedSetting(
            setting: Setting(
                name: name, about: about, kind: .choice(Choice.allCases.map(\.rawValue)),
                fallback: .string(fallback.rawValue), isRequired: false, perApp: perApp),
            fallback: fallback, read: { $0.string.flatMap(Choice.init(rawValue:)) })
    }

    /// A text setting, empty by default.
    static func text(
        _ name: String, _ kind: Setting.Kind, perApp: Bool = false, _ about: String
    ) -> TypedSetting<String?> {
        TypedSetting(
            setting: Setting(
                name: name, about: about, kind: kind, fallback: .null, isRequired: false,
                perApp: perApp),
            fallback: nil, read: { .some($0.string) })
    }

    /// A list setting, empty by default unless it has a fallback.
    static func texts(
        _ name: String, _ kind: Setting.Kind, unless fallback: [String] = [],
        perApp: Bool = false, _ about: String
    ) -> TypedSetting<[String]> {
        TypedSetting(
            setting: Setting(
                name: name, about: about, kind: kind, fallback: .texts(fallback), isRequired: false,
                perApp: perApp),
            fallback: fallback, read: { $0.array?.compactMap(\.string) })
    }

    /// A mandatory text setting, which can only be changed.
    static func required(
        _ name: String, _ kind: Setting.Kind, perApp: Bool = false, _ about: String
    ) -> TypedSetting<String> {
        TypedSetting(
            setting: Setting(
                name: name, about: about, kind: kind, fallback: .null, isRequired: true,
                perApp: perApp),
            fallback: "", read: \.string)
    }

    /// Something that is an object within itself.
    static func object(
        _ name: String, _ kind: Setting.Kind, perApp: Bool = false, _ about: String
    ) -> TypedSetting<JSONObject> {
        TypedSetting(
            setting: Setting(
                name: name, about: about, kind: kind, fallback: [:], isRequired: false,
                perApp: perApp),
            fallback: [:], read: \.object)
    }
}
