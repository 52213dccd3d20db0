/// Where a running Urd listens, and whether it answers there.
struct Listeners: Sendable {
    let publicPort: UInt16
    let privatePort: UInt16
    /// Whether `/health/live` of the private listener is answered.
    let isUrd: Bool

    /// The settings' ports. Where they are defaults, those that `dev.env` names: it has no settings of the
    /// server, but the addresses of the one that runs.
    init(_ settings: Settings, environment: Environment) {
        publicPort = Self.port(settings, Settings.listenPort, environment["URD_URL"])
        privatePort = Self.port(settings, Settings.privatePort, environment["URD_PRIVATE_URL"])
        isUrd =
            LocalHTTP.status(
                of: "/health/live", address: settings[Settings.privateAddress], port: privatePort)
            == 200
    }

    static func port(
        _ settings: Settings, _ setting: Setting<UInt16>, _ url: String?
    ) -> UInt16 {
        let entry = settings.entries.first { $0.setting.name == setting.name }
        guard entry?.origin == .defaultValue, let url,
            let colon = url.lastIndex(of: ":"), let port = UInt16(url[url.index(after: colon)...])
        else { return settings[setting] }
        return port
    }
}
