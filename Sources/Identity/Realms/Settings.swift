public import JSON

/// What was set for a realm or an app; all else is as the catalogue says.
public struct Settings: Sendable, Equatable {
    /// Only values that an administrator set to differ from the defaults.
    public private(set) var overrides: JSONObject = [:] {
        didSet { defaults = Self.defaults(in: overrides) }
    }
    /// Those of the profile, which go before the catalogue's.
    public private(set) var defaults: JSONObject = [:]

    public init() {}

    /// As stored; names of removed settings are ignored.
    public init(overrides: JSONObject) {
        self.overrides = overrides
        defaults = Self.defaults(in: overrides)
    }

    private static func defaults(in overrides: JSONObject) -> JSONObject {
        let profile = overrides[SettingCatalogue.profile.name]?.string
        return profile.flatMap(RealmProfile.init)?.rules.defaults ?? [:]
    }

    /// Inlinable, because it is asked several times a request, and quick where the type is known.
    @inlinable
    public subscript<Value>(_ setting: TypedSetting<Value>) -> Value {
        (overrides[setting.name] ?? defaults[setting.name]).flatMap(setting.read)
            ?? setting.fallback
    }

    /// The effective settings of an app: its own values where it has some, else these. Where
    /// neither sets who may join, a person who proves a mail address may, if the app signs people
    /// in without a browser: that is what it does so for.
    public func overlaid(by app: Settings) -> Settings {
        var settings = self
        settings.overrides.merge(app.overrides) { _, own in own }
        let registration = SettingCatalogue.registration.name
        if settings[SettingCatalogue.nativeGrants], settings.overrides[registration] == nil {
            settings.overrides[registration] = .string(RegistrationPosture.jitOnOTP.rawValue)
        }
        return settings
    }

    /// Every setting with the value that holds, defaults included.
    public var all: JSONObject {
        JSONObject(
            SettingCatalogue.all.map { setting in
                (
                    setting.name,
                    overrides[setting.name] ?? defaults[setting.name] ?? setting.fallback
                )
            })
    }

    mutating func apply(_ changes: JSONObject) {
        for (name, value) in changes {
            overrides[name] = value.isNull ? nil : value
        }
    }

    /// Those of the changes that change something. In an app a required setting may be unset: the
    /// realm's value holds then.
    func effective(
        _ changes: JSONObject, perApp: Bool
    ) throws(FieldFault) -> JSONObject {
        var effective: JSONObject = [:]
        for (name, value) in changes.sorted(by: { $0.key < $1.key }) {
            guard let setting = SettingCatalogue.find(name) else {
                throw FieldFault(name, .unknown)
            }
            guard setting.perApp || !perApp else { throw FieldFault(name, .notPerApp) }
            if let fault = DisclosedKey.fault(in: name, value) { throw fault }
            do {
                if !perApp || !value.isNull { try setting.check(value) }
            } catch {
                throw FieldFault(name, error)
            }
            if (overrides[name] ?? .null) != value { effective[name] = value }
        }
        return effective
    }
}
