import JSON

/// `dev.env`: what a script or a person needs to talk to this run, in shell syntax.
struct DevelopmentEnvironment: Equatable, Sendable {
    private(set) var lines: [(name: String, value: String)]

    init(place: DevelopmentPlace, listening: ServerAddress, demo: Demo) {
        lines = [
            ("URD_URL", "http://127.0.0.1:\(listening.port)"),
            ("URD_REALM", demo.realm),
            ("URD_ADMIN_KEY", demo.adminKey),
            ("URD_CLIENT_ID", demo.clientID),
            ("URD_CLIENT_SECRET", demo.clientSecret),
            ("URD_NATIVE_CLIENT_ID", demo.nativeClientID),
            ("URD_REALM_URL", "http://localhost:\(listening.port)"),
            ("URD_APP_URL", "http://demo.localhost:\(listening.port)"),
            ("URD_FLAGSHIP_HOST", "flagship.localhost:\(listening.port)"),
            ("URD_FLAGSHIP_URL", "http://flagship.localhost:\(listening.port)"),
            ("URD_DATABASE_URL", place.databaseURL),
            ("URD_DATABASE_OWNER_URL", place.ownerURL),
            ("URD_MASTER_KEY_FILE", place.masterKeyFile),
            ("URD_CHECKPOINT_DIRECTORY", place.checkpointDirectory),
        ]
        if let tenant = demo.tenant {
            lines += [
                ("URD_VERIFY_URL", "http://\(DemoData.verifyHost):\(listening.port)"),
                ("URD_VERIFY_API_KEY_ID", tenant.apiKey),
                ("URD_VERIFY_API_SECRET_KEY", tenant.secret),
            ]
        }
        lines += demo.federation?.lines(port: listening.port) ?? []
        lines += demo.stores?.lines ?? []
        if let token = demo.registerToken { lines.append(("URD_FLAGSHIP_TOKEN", token)) }
        if let port = listening.privatePort {
            lines.insert(("URD_PRIVATE_URL", "http://127.0.0.1:\(port)"), at: 1)
        }
        if let inbox = listening.inbox { lines.insert(("URD_INBOX_URL", inbox), at: 2) }
    }

    var text: String {
        lines.map { "\($0.name)=\(Self.quoted($0.value))\n" }.joined()
    }

    var json: JSON {
        var members = JSONObject()
        for line in lines { members[line.name] = .string(line.value) }
        return .object(members)
    }

    /// The environment that the last run wrote down.
    static func demo(in text: String) -> Demo? {
        let values = values(in: text)
        guard let realm = values["URD_REALM"], let key = values["URD_ADMIN_KEY"],
            let id = values["URD_CLIENT_ID"], let secret = values["URD_CLIENT_SECRET"]
        else { return nil }
        var demo = Demo(
            realm: realm, clientID: id, clientSecret: secret,
            nativeClientID: values["URD_NATIVE_CLIENT_ID"] ?? "", adminKey: key)
        if let key = values["URD_VERIFY_API_KEY_ID"],
            let secret = values["URD_VERIFY_API_SECRET_KEY"]
        {
            demo.tenant = DemoTenant(apiKey: key, secret: secret)
        }
        demo.federation = DemoFederation(values)
        return demo
    }

    /// Where the last run had its inbox, its health and its metrics.
    static func privatePort(in text: String) -> UInt16? {
        values(in: text)["URD_PRIVATE_URL"]?.split(separator: ":").last.flatMap { UInt16($0) }
    }

    private static func values(in text: String) -> [Substring: String] {
        var values: [Substring: String] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            let parts = line.split(separator: "=", maxSplits: 1)
            if parts.count == 2 { values[parts[0]] = String(parts[1]) }
        }
        return values
    }

    /// Only a folder with unusual letters in its name needs quotes.
    static func quoted(_ value: String) -> String {
        let plain = value.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "%@:/._-+=,".utf8.contains(byte)
            }
        }
        if plain { return value }
        return "'"
            + value.split(separator: "'", omittingEmptySubsequences: false)
            .joined(separator: "'\\''") + "'"
    }

    static func == (left: DevelopmentEnvironment, right: DevelopmentEnvironment) -> Bool {
        left.text == right.text
    }
}
