/// What extensions of a request may give to other rooms: nothing.
///
/// A member of `Call<RealmContext>` can be called wherever there is a request, and Swift asks for no
/// import. So what several rooms need is a value of its own (`Commands(call)`, `Tokens(context)`), whose
/// type RoomRules sees; a room's own extensions are for itself.
enum MemberRules {
    /// The rooms that others stand on.
    static let shared: Set<String> = ["Access", "Letters", "Browser"]

    struct Member: Hashable {
        let name: String
        let room: String
        let path: String
        let line: Int
    }

    static func findings(_ files: [SwiftFile]) -> [Finding] {
        let members = files.flatMap(members)
        var findings = members.filter { shared.contains($0.room) }.map {
            Finding(
                path: $0.path, line: $0.line, what: "gives every request the member \($0.name)",
                remedy: "Make it a function of a value that handlers make of their call")
        }
        let rooms = Dictionary(grouping: members, by: \.name)
        for (name, found) in rooms.sorted(by: { $0.key < $1.key })
        where Set(found.map(\.room)).count > 1 {
            findings.append(
                Finding(
                    path: found[0].path, line: found[0].line,
                    what: "gives requests a member \(name), as another room does",
                    remedy: "Name it after what it is in this room"))
        }
        for file in files {
            guard let room = room(of: file) else { continue }
            for (line, name) in uses(in: file) {
                guard let owner = rooms[name]?.first?.room, owner != room else { continue }
                findings.append(
                    Finding(
                        path: file.path, line: line, what: "calls \(name) of \(owner)",
                        remedy: "Move what both need into a room below, as a value"))
            }
        }
        return findings
    }

    private static let opening = Pattern(#"^(private )?extension Call<RealmContext>[^{]*\{"#)
    private static let member = Pattern(
        #"^    (private |fileprivate )?(?:static )?(?:func|var|let) `?(\w+)"#)
    private static let ofCall = Pattern(#"(?<![\w.])call\.(\w+)"#)
    private static let bare = Pattern(#"(?<![\w.])(?<!func )(?:self\.)?(\w+)\("#)

    /// The lines within extensions of a request: up to the brace that closes at the margin.
    private static func extended(_ file: SwiftFile) -> [(number: Int, text: String)] {
        var found: [(Int, String)] = []
        var isInside = false
        for (index, line) in file.code.enumerated() {
            if opening.isFound(in: line) {
                isInside = true
            } else if line == "}" {
                isInside = false
            } else if isInside {
                found.append((index + 1, line))
            }
        }
        return found
    }

    private static func members(of file: SwiftFile) -> [Member] {
        guard let room = room(of: file), room != "Web" else { return [] }
        return extended(file).compactMap { number, line in
            guard let found = member.matches(in: line).first, found[1].isEmpty else { return nil }
            return Member(name: found[2], room: room, path: file.path, line: number)
        }
    }

    private static func uses(in file: SwiftFile) -> [(line: Int, name: String)] {
        // The admin API has requests of its own.
        guard room(of: file) != "Admin" else { return [] }
        var found: [(Int, String)] = []
        for (index, line) in file.code.enumerated() where line.contains("call.") {
            found += ofCall.matches(in: line).map { (index + 1, $0[1]) }
        }
        for (number, line) in extended(file) {
            found += bare.matches(in: line).map { (number, $0[1]) }
        }
        return found
    }

    private static func room(of file: SwiftFile) -> String? {
        let parts = file.path.split(separator: "/")
        return file.path.hasPrefix("Sources/API/") && parts.count > 3 ? String(parts[2]) : nil
    }
}
