internal import Identity
internal import JSON

/// The schemas of settings, made from their catalogue.
enum SettingSchema {
    /// What a change may say: null returns a setting to what holds without it.
    static let realmChanges = Schema.named(
        "RealmSettingsChange",
        .object(
            SettingCatalogue.all.map { setting in
                .optional(
                    setting.name,
                    setting.isRequired ? setting.shape : .nullable(setting.shape), setting.about)
            }))

    static let appChanges = Schema.named(
        "AppSettingsChange",
        .object(
            SettingCatalogue.all.filter(\.perApp).map { setting in
                .optional(setting.name, .nullable(setting.shape), setting.about)
            }))

    /// What holds in a realm, defaults included.
    static let realm = Schema.named(
        "RealmSettings",
        .object(
            SettingCatalogue.all.map { setting in
                .required(
                    setting.name,
                    setting.isRequired || setting.fallback != .null
                        ? setting.shape : .nullable(setting.shape),
                    setting.about)
            }))

    /// What an app has for itself.
    static let app = Schema.named(
        "AppSettings",
        .object(
            SettingCatalogue.all.filter(\.perApp).map { setting in
                .optional(setting.name, setting.shape, setting.about)
            }))
}

extension SettingCatalogue {
    static func form(of name: String) -> String? { all.first { $0.name == name }?.form }
}

extension Setting {
    /// What a value must be, where its schema says less. Goes on after the setting's name.
    var form: String? {
        switch kind {
        case .certifiedApps:
            "must list official, or apps as ios:TEAMID.bundle or android:package:fingerprint, which is SHA-256 of "
                + "the signing certificate in hexadecimal digits"
        case .apps:
            "must list apps as ios:TEAMID.bundle or android:package:fingerprint, which is SHA-256 of "
                + "the signing certificate in hexadecimal digits"
        case .origins:
            "must list origins such as https://shop.example or android:apk-key-hash:…, which is a "
                + "digest of the signing certificate in base64url"
        case .regions: "must list countries by their two capital letters of ISO 3166, such as CH"
        case .resources: "must list absolute addresses without a fragment"
        case .scopes: "must list names of scopes, which have no spaces or quotes in them"
        case .certificates: "must list X.509 certificates as PEM or in base 64"
        case .attestationRoots:
            "must list X.509 certificates as PEM or in base 64, each behind the format that it "
                + "vouches in: packed:, tpm:, android-key:, apple: or fido-u2f:"
        case .flag, .seconds, .count, .choice, .label, .webAddress, .mailAddress, .hostName,
            .domain, .selection, .colour, .mailWords, .issuers, .roles, .rates:
            nil
        }
    }

    /// What a value of it looks like. Where the domain asks for more than a schema can say, the
    /// schema says less.
    fileprivate var shape: Schema {
        switch kind {
        case .flag: .boolean
        case .seconds(let lowest, let highest), .count(let lowest, let highest):
            .integer(lowest...highest)
        case .choice(let choices): .oneOf(choices)
        case .label(let limit): .text(1...limit, Names.showable(limit))
        case .webAddress: .text(8...2000, Names.webAddress, format: "uri")
        case .mailAddress: .text(3...254, Names.mailAddress, format: "email")
        case .hostName: .text(1...259, Names.host)
        case .domain: .text(1...253, Names.host)
        case .origins(let limit): .list(of: .text(8...300), 0...limit, unique: true)
        case .resources(let limit): .list(of: .text(1...2048), 0...limit, unique: true)
        case .scopes(let limit): .list(of: .text(1...255), 0...limit, unique: true)
        case .regions(let limit): .list(of: .text(2...2), 0...limit, unique: true)
        case .selection(let choices):
            .list(of: .oneOf(choices), 0...choices.count, unique: true)
        case .apps(let limit), .certifiedApps(let limit):
            .list(of: .text(8...300), 0...limit, unique: true)
        case .certificates(let limit), .attestationRoots(let limit):
            .list(of: .text(1...32_768), 0...limit, unique: true)
        case .mailWords: MailWords.schema
        case .issuers, .roles: .openObject
        case .rates: RateTable.overrideSchema
        case .colour: .text(7...7, Names.colour)
        }
    }
}
