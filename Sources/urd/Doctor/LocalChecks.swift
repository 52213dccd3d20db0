import API
import Glibc
import HTTPServer
import MaxMind

/// What can be seen without the database.
enum LocalChecks {
    static func all(_ settings: Settings, _ listeners: Listeners, now: Int64) -> [Diagnosis] {
        [
            masterKey(settings[Settings.masterKeyFile]),
            checkpoints(settings[Settings.checkpointDirectory]),
            port(
                "public port", settings[Settings.listenAddress], listeners.publicPort,
                Settings.listenPort, isUrds: listeners.isUrd),
            port(
                "private port", settings[Settings.privateAddress], listeners.privatePort,
                Settings.privatePort, isUrds: listeners.isUrd),
            proxies(settings[Settings.trustedProxies]),
            files(needed: 2 * settings[Settings.maximumConnections] + 256),
            addresses(.ofThisProcess()),
            clock(now),
        ] + (settings[Settings.breachedPassphrases].map { [breached($0)] } ?? [])
            + GeoDatabases.paths(settings).map { places($0, now: now) }
    }

    static func breached(_ path: String) -> Diagnosis {
        let check = "lost passphrases"
        guard let fault = BreachedList(path: path).fault() else { return .fine(check, path) }
        return .wrong(
            check, fault,
            mend: "Use a list that is ordered by SHA-1 digest, or leave breached-passphrases out.")
    }

    /// `now` in microseconds. A server that runs uses what it read before.
    static func places(_ path: String, now: Int64) -> Diagnosis {
        let check = "places of addresses"
        do throws(GeoDatabase.Failure) {
            let database = try GeoDatabase(path: path)
            let days = max(0, now / 1_000_000 - database.builtAt) / 86_400
            let told = "\(path): \(database.type), made \(days) days ago"
            guard days > 45 else { return .fine(check, told) }
            return .warning(
                check, told,
                mend:
                    "Put a newer one in its place: networks move, and licences ask for it. Urd reads it by itself."
            )
        } catch {
            return .wrong(
                check, "\(path): \(error)",
                mend:
                    "Write a whole database beside it and rename it to this path, or leave geo-database out. "
                    + "A server that runs goes on with what it read before.")
        }
    }

    static func masterKey(_ path: String?) -> Diagnosis {
        let check = "master key"
        guard let path else {
            return .wrong(
                check, "not set",
                mend: "Give --master-key-file, URD_MASTER_KEY_FILE or the credential master_key. "
                    + "Make a key:  (umask 077; openssl rand -hex 32 > master.key)")
        }
        do throws(MasterKeyFile.Problem) {
            _ = try MasterKeyFile.read(path)
            return .fine(check, path)
        } catch {
            switch error {
            case .missing:
                return .wrong(
                    check, "there is no file \(path)",
                    mend: "Put the key there. A new key reads nothing that the old one sealed.")
            case .unreadable(let why):
                return .wrong(check, why, mend: "Let the user who runs Urd read it.")
            case .exposed(let mode):
                return .wrong(
                    check, "\(path) is open to others (mode \(mode))", mend: "chmod 600 \(path)")
            case .malformed(let count):
                return .wrong(
                    check, "\(path) has \(count) bytes and is no key",
                    mend: "It must be 32 bytes, or 64 hexadecimal digits.")
            }
        }
    }

    static func checkpoints(_ path: String?) -> Diagnosis {
        let check = "checkpoint directory"
        guard let path else {
            return .warning(
                check, "not set",
                mend: "Set checkpoint-directory: a copy of the last signed checkpoint outside the "
                    + "database shows when the database as a whole was put back.")
        }
        guard let facts = File.facts(path) else {
            return .wrong(check, "there is no folder \(path)", mend: "mkdir -m 700 \(path)")
        }
        guard facts.isFolder, access(path, W_OK | X_OK) == 0 else {
            return .wrong(
                check, "\(path) cannot be written to",
                mend: "Make it a folder of the user who runs Urd, with mode 700.")
        }
        if let free = freeShare(path), free < 0.05 {
            return .warning(check, "\(path) is nearly full", mend: "Make room on its disk.")
        }
        return .fine(check, path)
    }

    private static func freeShare(_ path: String) -> Double? {
        var facts = statvfs()
        guard statvfs(path, &facts) == 0, facts.f_blocks > 0 else { return nil }
        return Double(facts.f_bavail) / Double(facts.f_blocks)
    }

    /// A port in use may be that of a running Urd that does not answer, so it is no more than a warning.
    static func port(
        _ check: String, _ address: String, _ port: UInt16, _ setting: any AnySetting,
        isUrds: Bool
    ) -> Diagnosis {
        guard port > 0 else { return .fine(check, "any free one") }
        // IPv6 addresses are left to the server, which says what it cannot listen on.
        guard !address.contains(":") else { return .fine(check, "[\(address)]:\(port)") }
        switch Port.state(of: port, address: address) {
        case .free:
            return .fine(check, "\(address):\(port) is free")
        case .taken where isUrds:
            return .fine(check, "\(address):\(port): Urd answers")
        case .taken:
            return .warning(
                check, "\(address):\(port) is in use, and no Urd answers",
                mend: "End the other program or choose "
                    + "another port with \(setting.variable).")
        case .forbidden:
            return .wrong(
                check, "\(address):\(port) is not allowed to this user",
                mend: "Choose a port above 1023, or use the socket unit under deploy/.")
        case .unknown(let code):
            return .wrong(
                check, "\(address):\(port): \(String(cString: strerror(code)))",
                mend: "Choose an address of this machine, in digits.")
        }
    }

    /// Urd itself speaks no TLS.
    static func proxies(_ trusted: [Network]) -> Diagnosis {
        let check = "proxies"
        if !trusted.isEmpty {
            return .fine(check, "believed: " + trusted.map(\.description).joined(separator: ", "))
        }
        return .warning(
            check, "none is believed: issuers begin with http://, and who asks is not told apart",
            mend: "Put a proxy with TLS in front (deploy/nginx.conf), and name its address in "
                + "\(Settings.trustedProxies.variable).")
    }

    static func files(needed: Int) -> Diagnosis {
        let check = "open files"
        let limit = OpenFiles.raise()
        if limit >= needed { return .fine(check, "up to \(limit)") }
        guard limit >= OpenFiles.least else {
            return .wrong(
                check, "up to \(limit), and nothing is served with less than \(OpenFiles.least)",
                mend: "Raise it: LimitNOFILE= in the unit, ulimit -n in the shell.")
        }
        return .warning(
            check, "up to \(limit), but \(needed) may be needed",
            mend: "Raise it (LimitNOFILE= in the unit, ulimit -n), or lower maximum-connections.")
    }

    /// Another limit than the service's may hold here: the shell's.
    static func addresses(_ limits: ProcessLimits) -> Diagnosis {
        let check = "address space"
        guard let limit = limits.addressSpace else { return .fine(check, "not limited") }
        var limits = limits
        limits.files = .max
        guard let shortage = limits.shortages.first else {
            return .fine(check, "up to \(limit >> 20) MiB")
        }
        return .wrong(check, shortage.what, mend: shortage.remedy ?? "")
    }

    /// `now` in microseconds. Identifiers and expiries are made of the time.
    static func clock(_ now: Int64) -> Diagnosis {
        let check = "clock"
        let seconds = now / 1_000_000
        // From the year this was written to well before 32-bit clocks end.
        guard (1_760_000_000...2_140_000_000).contains(seconds) else {
            return .wrong(
                check, "it shows \(seconds) seconds since 1970, which cannot be",
                mend: "Set the clock; run chrony or systemd-timesyncd.")
        }
        return .fine(check, "plausible")
    }
}
