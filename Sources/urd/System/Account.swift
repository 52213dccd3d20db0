import Glibc

/// A user of this machine, under whose name a program can run.
struct Account: Equatable, Sendable {
    let name: String
    let user: uid_t
    let group: gid_t

    init(name: String, user: uid_t, group: gid_t) {
        self.name = name
        self.user = user
        self.group = group
    }

    init?(named name: String) {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var texts = [CChar](repeating: 0, count: 16 * 1024)
        guard getpwnam_r(name, &entry, &texts, texts.count, &found) == 0, found != nil else {
            return nil
        }
        self.name = name
        user = entry.pw_uid
        group = entry.pw_gid
    }

    static var isRoot: Bool { geteuid() == 0 }

    /// PostgreSQL refuses to run as root: then as the user that its packages make, or as nobody.
    static func forDatabase() throws(CommandFailure) -> Account? {
        guard isRoot else { return nil }
        guard let account = Account(named: "postgres") ?? Account(named: "nobody") else {
            throw CommandFailure(
                "PostgreSQL does not run as root, and there is no user 'postgres' or 'nobody'",
                remedy: "Run it as a normal user, or make one: useradd --system postgres")
        }
        return account
    }
}
