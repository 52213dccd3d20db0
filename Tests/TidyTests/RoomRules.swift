/// The order of the adapter's rooms: which folder of `Sources/API` may name the types of which.
///
/// Swift knows no layers within a module. Types are found by their declarations at the top level of
/// files, and references by name, so that a type that is declared twice belongs to nobody.
enum RoomRules {
    /// What each room may name, beside itself. What stands directly in `Sources/API` composes the rooms
    /// and may name all of them.
    static let order: [String: Set<String>] = [
        "Web": [],
        "Access": ["Web"],
        "Letters": ["Web", "Access"],
        "Browser": ["Web", "Access", "Letters"],
        "OAuth": shared,
        "Native": shared,
        "Site": shared,
        "Flagship": shared,
        "Signals": shared,
        // The profile gives the endpoints of OAuth other addresses.
        "Voo": shared.union(["OAuth"]),
        "Verify": shared,
        "Receipts": shared,
        "Federation": shared,
        "Admin": shared,
        // What follows a realm is opened with the keys of its administration.
        "Subscriptions": shared.union(["Admin"]),
        "Analysis": shared.union(["Admin"]),
    ]
    private static let shared: Set<String> = ["Web", "Access", "Letters", "Browser"]

    /// What is out of order today, as "file: type". The list may only shrink.
    static let exceptions: Set<String> = []

    struct Reference: Hashable {
        let path: String
        let line: Int
        let type: String
        let room: String
    }

    /// The references that the order does not allow.
    static func violations(_ files: [SwiftFile]) -> [Reference] {
        let homes = homes(of: files)
        var found: [Reference] = []
        for file in files {
            guard let room = room(of: file.path), let allowed = order[room] else { continue }
            var seen: Set<String> = []
            for (index, line) in file.code.enumerated() {
                for name in names(in: line) where !seen.contains(name) {
                    guard let home = homes[name], home != room, !allowed.contains(home) else {
                        continue
                    }
                    seen.insert(name)
                    found.append(
                        Reference(path: file.path, line: index + 1, type: name, room: home))
                }
            }
        }
        return found
    }

    static func findings(_ files: [SwiftFile]) -> [Finding] {
        let violations = violations(files)
        var findings = violations.filter { !exceptions.contains(key($0)) }.map { found in
            Finding(
                path: found.path, line: found.line, what: "names \(found.type) of \(found.room)",
                remedy: "Move what both need into a room below, or hand it in from API.swift")
        }
        for stale in exceptions.subtracting(violations.map(key)).sorted() {
            findings.append(
                Finding(
                    path: "Tests/TidyTests/RoomRules.swift", line: 1,
                    what: "the exception '\(stale)' is needed no more",
                    remedy: "Take it out of the list"))
        }
        for room in Set(files.compactMap { room(of: $0.path) }).subtracting(order.keys).sorted() {
            findings.append(
                Finding(
                    path: "\(root)\(room)", line: 1, what: "a room without a place in the order",
                    remedy: "Say in RoomRules.order what it may name"))
        }
        return findings
    }

    private static let root = "Sources/API/"

    private static func key(_ found: Reference) -> String {
        "\(found.path.dropFirst(root.count)): \(found.type)"
    }

    /// "OAuth" of "Sources/API/OAuth/Grants/OTPForm.swift"; nil for what composes the rooms.
    private static func room(of path: String) -> String? {
        let parts = path.dropFirst(root.count).split(separator: "/")
        return path.hasPrefix(root) && parts.count > 1 ? String(parts[0]) : nil
    }

    private static let declaration = Pattern(
        #"^(?:(?:public|package|internal|final|indirect) )*"#
            + #"(?:struct|class|enum|protocol|actor|typealias) (\w+)"#)

    /// The room of each type, where just one file declares it.
    private static func homes(of files: [SwiftFile]) -> [String: String] {
        var homes: [String: [String]] = [:]
        for file in files {
            for line in file.code {
                guard let name = declaration.matches(in: line).first?[1] else { continue }
                homes[name, default: []].append(room(of: file.path) ?? "API")
            }
        }
        return homes.compactMapValues { $0.count == 1 ? $0[0] : nil }
    }

    /// The words of a line that begin with a capital.
    static func names(in line: String) -> [String] {
        line.split(whereSeparator: { !$0.isLetter && !$0.isNumber && $0 != "_" })
            .filter { $0.first?.isUppercase == true }.map(String.init)
    }
}
