import API
import HTTPClient
import JSON
import Testing

@testable import urd

@Suite("Settings")
struct SettingsTests {
    private func load(
        _ settings: [any AnySetting] = Settings.table, flags: [String: [String]] = [:],
        environment: [String: String] = [:], files: [String: String] = [:], strictly: Bool = false
    ) throws(SettingsFailure) -> Settings {
        try Settings(
            settings,
            from: SettingsSources(
                flags: flags, environment: Environment(environment), readFile: { files[$0] }),
            strictly: strictly)
    }

    private func origin(_ settings: Settings, _ name: String) -> Settings.Origin? {
        settings.entries.first { $0.setting.name == name }?.origin
    }

    @Test func `clients that are notified of logouts are called by the address rules of all calls`()
        throws
    {
        let settings = try load(
            environment: [
                "URD_OUTGOING_CA_FILE": "/etc/house-ca.pem",
                "URD_OUTGOING_NETWORKS": "10.1.0.0/16",
            ])
        let configuration = LogoutService.configuration(ServeOptions(settings, []))
        #expect(configuration.caFile == "/etc/house-ca.pem")
        let expected = Destinations.publicOnly(except: settings.outgoingNetworks)
        #expect("\(configuration.destinations)" == "\(expected)")
        #expect(settings.outgoingNetworks.count == 1)
        #expect(LogoutService.configuration(ServeOptions(try load(), [])).caFile == nil)
    }

    @Test func `receivers of signals are called over TLS alone, by the address rules of all calls`()
        throws
    {
        let settings = try load(
            environment: [
                "URD_OUTGOING_CA_FILE": "/etc/house-ca.pem",
                "URD_OUTGOING_NETWORKS": "10.1.0.0/16",
            ])
        let configuration = SignalService.configuration(ServeOptions(settings, []))
        #expect(configuration.caFile == "/etc/house-ca.pem")
        let expected = Destinations.publicOnly(except: settings.outgoingNetworks)
        #expect("\(configuration.destinations)" == "\(expected)")
        #expect(!configuration.allowsHTTP)
        #expect(configuration.maximumRedirects == 0)
    }

    @Test func `every default setting is an allowed value`() throws {
        let settings = try load()
        for setting in Settings.table {
            if let text = setting.defaultText { #expect(setting.check(text), "\(setting.name)") }
        }
        #expect(settings[Settings.listenPort] == 8080)
        #expect(settings[Settings.maximumHeader] == 32 * 1024)
        #expect(settings[Settings.requestDeadline] == .seconds(10))
        #expect(settings[Settings.databaseURL] == nil)
    }

    @Test func `proxies are trusted by network, and none by default`() throws {
        #expect(try load()[Settings.trustedProxies].isEmpty)
        let set = try load(environment: ["URD_TRUSTED_PROXIES": "10.0.0.0/8, ::1"])
        #expect(set[Settings.trustedProxies].map(\.description) == ["10.0.0.0/8", "::1/128"])
        #expect(throws: SettingsFailure.self) {
            try load(environment: ["URD_TRUSTED_PROXIES": "10.0.0.1/8"])
        }
    }

    @Test func `setting names are unique, lower case and apart from those of dev.env`() {
        let names = Settings.table.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(names.allSatisfy { $0.allSatisfy { $0 == "-" || ("a"..."z").contains($0) } })
        #expect(Settings.otherVariables.isDisjoint(with: Settings.table.map(\.variable)))
        #expect(Settings.databaseURL.variable == "URD_DATABASE_URL")
    }

    @Test func `a flag precedes the environment, a file, a credential and the default`()
        throws
    {
        var flags = ["database-url": ["flag"]]
        var environment = [
            "URD_DATABASE_URL": "environment", "URD_DATABASE_URL_FILE": "/secret",
            "CREDENTIALS_DIRECTORY": "/credentials",
        ]
        var files = ["/secret": "file\n", "/credentials/database_url": "credential\n"]
        func value() throws -> (String?, Settings.Origin?) {
            let settings = try load(flags: flags, environment: environment, files: files)
            return (settings[Settings.databaseURL], origin(settings, "database-url"))
        }
        #expect(try value() == ("flag", .flag))
        flags = [:]
        #expect(try value() == ("environment", .environment("URD_DATABASE_URL")))
        environment["URD_DATABASE_URL"] = ""
        #expect(try value() == ("file", .file("/secret")))
        environment["URD_DATABASE_URL_FILE"] = nil
        #expect(try value() == ("credential", .credential("database_url")))
        files = [:]
        #expect(try value() == (nil, .unset))
    }

    @Test func `a credential file is named by its path`() throws {
        let settings = try load(
            environment: ["CREDENTIALS_DIRECTORY": "/run/c"], files: ["/run/c/master_key": "k"])
        #expect(settings[Settings.masterKeyFile] == "/run/c/master_key")
    }

    @Test func `an unreadable settings file is refused, not taken for unset`() {
        #expect(throws: SettingsFailure.self) {
            try load(environment: ["URD_DATABASE_URL_FILE": "/nowhere"])
        }
    }

    @Test(arguments: [
        ("listen-port", ["0", "65535"], ["65536", "-1", "x", "", "1.0"]),
        ("drain", ["0s", "500ms", "10s", "2m"], ["10", "s", "1h", "-1s", "99999999999999999h"]),
        ("maximum-body", ["1024", "1KiB", "64MiB"], ["1", "1023", "1GB", "9999999999GiB", "-5"]),
        ("log-level", ["debug", "error"], ["Debug", "loud"]),
        ("database-connections", ["1", "128"], ["0", "129", "9223372036854775808"]),
    ])
    func `a setting's value is checked`(name: String, good: [String], bad: [String]) throws {
        for text in good { _ = try load(flags: [name: [text]]) }
        for text in bad {
            #expect(throws: SettingsFailure.self, "\(name) \(text)") {
                try load(flags: [name: [text]])
            }
        }
    }

    @Test func `all wrong settings are reported at once, without secrets`() throws {
        let failure = #expect(throws: SettingsFailure.self) {
            try load(
                flags: ["listen-port": ["x"]],
                environment: [
                    "URD_DRAIN": "soon", "URD_DATABSE_URL": "hidden", "URD_REALM": "demo",
                    "PATH": "/bin",
                ], strictly: true)
        }
        #expect(
            failure?.problems == [
                "unknown environment variable URD_DATABSE_URL; did you mean URD_DATABASE_URL?",
                "--listen-port must be a port from 0 to 65535 (0: any free one), not 'x'",
                "URD_DRAIN must be a time such as 500ms, 10s, 2m or 1h, from 0.0 seconds to "
                    + "600.0 seconds, not 'soon'",
            ])
        #expect(failure?.description.contains("hidden") == false)
    }

    @Test func `unknown variables are refused only by unattended commands`() throws {
        _ = try load(environment: ["URD_NOBODY_KNOWS": "1"])
        #expect(throws: SettingsFailure.self) {
            try load(environment: ["URD_NOBODY_KNOWS": "1"], strictly: true)
        }
    }

    @Test func `shown settings have their source and no secrets`() throws {
        let settings = try load(
            flags: ["drain": ["5s"]],
            environment: ["URD_DATABASE_URL": "postgresql://u:hidden@h/d"])
        let table = settings.shown.render()
        #expect(table.contains("(set)"))
        #expect(table.contains("URD_DATABASE_URL"))
        #expect(!table.contains("hidden"))
        #expect(settings.json["drain"] == ["value": "5s", "from": "flag"])
        #expect(settings.json["database-url"] == ["set": true, "from": "URD_DATABASE_URL"])
        #expect(!settings.json.pretty().contains("hidden"))
    }
}
