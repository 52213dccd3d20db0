import EventSourcing
import Identity
import JSON
import LogTesting
import Testing

@Suite struct `Settings` {
    private func realm(_ changes: JSONObject...) -> Realm {
        var realm = Realm()
        realm.apply(.created(displayName: "Acme"))
        for change in changes { realm.apply(.settingsChanged(change)) }
        return realm
    }

    @Test func `settings have their defaults until they are set and after they are unset`() {
        let fresh = realm().settings
        #expect(fresh[SettingCatalogue.displayName] == "Acme")
        #expect(fresh[SettingCatalogue.nativeGrants] == false)
        #expect(fresh[SettingCatalogue.registration] == .off)
        #expect(fresh[SettingCatalogue.refreshTokenLeeway] == 10)
        #expect(fresh[SettingCatalogue.refreshTokenLateRepeat] == 86_400)
        #expect(fresh[SettingCatalogue.mailFrom] == nil)

        let changes: JSONObject = [
            "native_grants": true, "registration": "invite_code", "refresh_token_leeway": 0,
            "mail_from": "a@example.org", "display_name": "Other",
        ]
        let set = realm(changes).settings
        #expect(set[SettingCatalogue.displayName] == "Other")
        #expect(set[SettingCatalogue.nativeGrants])
        #expect(set[SettingCatalogue.registration] == .inviteCode)
        #expect(set[SettingCatalogue.refreshTokenLeeway] == 0)
        #expect(set[SettingCatalogue.mailFrom] == "a@example.org")

        let unset = realm(changes, ["native_grants": .null, "mail_from": .null]).settings
        #expect(unset[SettingCatalogue.nativeGrants] == false)
        #expect(unset[SettingCatalogue.mailFrom] == nil)
        #expect(unset[SettingCatalogue.registration] == .inviteCode)
    }

    @Test func `settings of an app precede those of the realm`() {
        var app = App()
        app.apply(.created(slug: "shop", name: "Shop"))
        app.apply(.updated(.init(settings: ["native_grants": true])))
        let settings = realm(["otp_attempts": 5]).settings.overlaid(by: app.settings)
        #expect(settings[SettingCatalogue.nativeGrants])
        #expect(settings[SettingCatalogue.otpAttempts] == 5)
        app.apply(.updated(.init(settings: ["native_grants": .null])))
        let plain = realm().settings.overlaid(by: app.settings)
        #expect(plain[SettingCatalogue.nativeGrants] == false)
    }

    /// The effective posture of an app, by what the realm and the app say.
    @Test(
        arguments: [
            ([:], ["native_grants": true], .jitOnOTP),
            (["native_grants": true], [:], .jitOnOTP),
            ([:], [:], .off),
            (["native_grants": true], ["native_grants": false], .off),
            (["registration": "off"], ["native_grants": true], .off),
            (["registration": "invite_code"], ["native_grants": true], .inviteCode),
            ([:], ["native_grants": true, "registration": "off"], .off),
            (["registration": "off"], ["registration": "jit_on_otp"], .jitOnOTP),
        ] as [(JSONObject, JSONObject, RegistrationPosture)])
    func `settings of who may join come from the app, else the realm, else the default`(
        realm changes: JSONObject, app own: JSONObject, posture: RegistrationPosture
    ) {
        let settings = realm(changes).settings.overlaid(by: Identity.Settings(overrides: own))
        #expect(settings[SettingCatalogue.registration] == posture)
    }

    @Test func `settings that are no longer known do no harm`() {
        let settings = realm(["gone_since": [1, 2], "otp_attempts": "text"]).settings
        #expect(settings[SettingCatalogue.otpAttempts] == 3)
        #expect(settings.all["gone_since"] == nil)
    }

    @Test func `settings have a name, a line of help and a valid default`() throws {
        var names: Set<String> = []
        for setting in SettingCatalogue.all {
            #expect(names.insert(setting.name).inserted)
            #expect(setting.name.utf8.allSatisfy { (97...122).contains($0) || $0 == 95 })
            #expect(!setting.about.isEmpty && !setting.about.hasSuffix("."))
            #expect(setting.help.hasPrefix(setting.about))
            if !setting.fallback.isNull { try setting.check(setting.fallback) }
            #expect(SettingCatalogue.find(setting.name)?.name == setting.name)
        }
        #expect(names.count == realm().settings.all.count)
    }

    @Test func `settings have a schema of their values`() {
        let schema = SettingCatalogue.schema(perApp: false)
        #expect(schema["additionalProperties"] == false)
        let attempts = schema["properties"]?["otp_attempts"]
        #expect(attempts?["minimum"] == 1)
        #expect(attempts?["maximum"] == 10)
        #expect(attempts?["default"] == 3)
        #expect(attempts?["type"] == ["integer", "null"])
        #expect(schema["properties"]?["display_name"]?["type"] == "string")
        #expect(schema["properties"]?["code_lifetime"] != nil)
        let perApp = SettingCatalogue.schema(perApp: true)
        #expect(perApp["properties"]?["otp_attempts"] != nil)
        #expect(perApp["properties"]?["code_lifetime"] == nil)
    }

    @Test func `settings have help in plain words`() throws {
        let leeway = try #require(SettingCatalogue.find("refresh_token_leeway"))
        #expect(
            leeway.help
                == "Leeway in which a client that lost the response may repeat a refresh "
                + "(0 to 300 seconds; default 10)")
        let mail = try #require(SettingCatalogue.find("mail_from"))
        #expect(mail.help == "The address that mails come from (mail address)")
    }
}
