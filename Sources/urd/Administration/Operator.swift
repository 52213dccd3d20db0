import Glibc

/// The operator at the terminal, as the log names them.
enum Operator {
    static var name: String {
        // An operator who became root by sudo keeps their own name.
        if let user = getenv("SUDO_USER"), geteuid() == 0 { return String(cString: user) }
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var texts = [CChar](repeating: 0, count: 16 * 1024)
        guard getpwuid_r(geteuid(), &entry, &texts, texts.count, &found) == 0, found != nil,
            let name = entry.pw_name
        else { return "uid-\(geteuid())" }
        return String(cString: name)
    }
}
