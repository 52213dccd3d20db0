/// Which folder of a module may name what of which other folder.
struct RoomRules {
    let module: String
    /// What each room may name, beside itself. What has no entry composes the rooms and may name all of them.
    let order: [String: Set<String>]
    /// The room of a folder, where several folders are one.
    var rooms: [String: String] = [:]
    /// What is out of order today, as "file: name". The list may only shrink.
    var exceptions: Set<String> = []

    struct Reference: Hashable {
        let path: String
        let line: Int
        let name: String
        let room: String
    }

    /// The references that the order does not allow.
    func violations(_ files: [SwiftFile], members: [String: Int] = [:]) -> [Reference] {
        let homes = homes(of: files, members)
        var found: [Reference] = []
        for file in files {
            guard let room = room(of: file.path), let allowed = order[room] else { continue }
            var seen: Set<String> = []
            for (index, line) in file.code.enumerated() {
                for name in UsedNames.of(line) where !seen.contains(name) {
                    guard let home = homes[name], home != room, !allowed.contains(home) else {
                        continue
                    }
                    seen.insert(name)
                    found.append(
                        Reference(path: file.path, line: index + 1, name: name, room: home))
                }
            }
        }
        return found
    }

    /// - Parameter members: how often each member's name is declared in all modules.
    func findings(_ files: [SwiftFile], members: [String: Int] = [:]) -> [Finding] {
        let violations = violations(files, members: members)
        var findings = violations.filter { !exceptions.contains(key($0)) }.map { found in
            Finding(
                path: found.path, line: found.line, what: "names \(found.name) of \(found.room)",
                remedy: "Move what both need into a room below, or hand it in from above")
        }
        for stale in exceptions.subtracting(violations.map(key)).sorted() {
            findings.append(
                Finding(
                    path: "Tests/TidyTests/RoomOrder.swift", line: 1,
                    what: "the exception '\(stale)' is needed no more",
                    remedy: "Take it out of the list"))
        }
        for room in Set(files.compactMap { room(of: $0.path) }).subtracting(order.keys).sorted() {
            findings.append(
                Finding(
                    path: "\(root)\(room)", line: 1, what: "a room without a place in the order",
                    remedy: "Say in RoomOrder what it may name"))
        }
        return findings
    }

    private var root: String { "Sources/\(module)/" }

    private func key(_ found: Reference) -> String {
        "\(found.path.dropFirst(root.count)): \(found.name)"
    }

    /// "OAuth" of "Sources/API/OAuth/Grants/OTPForm.swift"; nil for what composes the rooms.
    private func room(of path: String) -> String? {
        let parts = path.dropFirst(root.count).split(separator: "/")
        guard path.hasPrefix(root), parts.count > 1 else { return nil }
        return rooms[String(parts[0])] ?? String(parts[0])
    }

    /// The room of each name, where just one file declares it.
    private func homes(of files: [SwiftFile], _ members: [String: Int]) -> [String: String] {
        var homes: [String: [String]] = [:]
        for file in files {
            for name in DeclaredNames.of(file) {
                homes[name, default: []].append(room(of: file.path) ?? module)
            }
        }
        return homes.compactMapValues { $0.count == 1 ? $0[0] : nil }.filter { name, _ in
            !name.hasPrefix(".") || members[String(name.dropFirst()), default: 1] <= 1
        }
    }
}
