/// Who words the rejection of a command: the surface that dispatches it.
///
/// One fact is told in other words to an administrator than to the user whose account it is. So what a
/// rejection means stands beside the routes that dispatch the command, in the folder of their surface; another
/// surface that dispatches it as well says so itself, in a switch of its own. What stands in `Access` means the
/// same to all that dispatch it.
enum RejectionRules {
    private static let conformance = Pattern(#"^extension (\w+)\.Rejection: Refusal \{"#)
    /// The rejection of a change is named after it: `AppChange.create` and `AppChange.CreateRejection`.
    private static let ofChange = Pattern(#"^extension (\w+Change)\.(\w+)Rejection: Refusal \{"#)

    static func findings(_ files: [SwiftFile]) -> [Finding] {
        var homes: [String: String] = [:]
        for file in files {
            guard let room = room(of: file) else { continue }
            for line in file.code {
                if let name = conformance.matches(in: line).first?[1] { homes[name] = room }
                if let found = ofChange.matches(in: line).first {
                    homes["\(found[1]).\(found[2].prefix(1).lowercased())\(found[2].dropFirst())"] =
                        room
                }
            }
        }
        var findings: [Finding] = []
        for (name, home) in homes.sorted(by: { $0.key < $1.key }) {
            let call = Pattern("\\b\(name.replacing(".", with: "\\."))\\(")
            var rooms: Set<String> = []
            for file in files {
                guard let room = room(of: file) else { continue }
                for (index, line) in file.code.enumerated() where call.isFound(in: line) {
                    rooms.insert(room)
                    guard room != home, !MemberRules.shared.contains(home),
                        !hasOwnWords(file.code, around: index)
                    else { continue }
                    findings.append(
                        Finding(
                            path: file.path, line: index + 1,
                            what: "has \(name) refused in the words of \(home)",
                            remedy: "Say what each rejection means here: attempt and switch, or "
                                + "a closure after dispatch"))
                }
            }
            if MemberRules.shared.contains(home), rooms.count == 1, let only = rooms.first,
                !MemberRules.shared.contains(only)
            {
                findings.append(
                    Finding(
                        path: "Sources/API/\(home)", line: 1,
                        what: "words \(name).Rejection, which \(only) alone dispatches",
                        remedy: "Move the extension beside the route in \(only)"))
            }
        }
        return findings
    }

    /// The call is one of `attempt`, whose rejection the handler answers itself, or a closure follows.
    private static func hasOwnWords(_ code: [String], around index: Int) -> Bool {
        let before = code[max(0, index - 2)...index].joined(separator: "\n")
        let after = code[index..<min(code.count, index + 10)].joined(separator: "\n")
        return before.contains("attempt(") || after.contains("{ rejection in")
    }

    private static func room(of file: SwiftFile) -> String? {
        let parts = file.path.split(separator: "/")
        return file.path.hasPrefix("Sources/API/") && parts.count > 3 ? String(parts[2]) : nil
    }
}
