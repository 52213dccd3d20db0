/// Relative references (RFC 3986 section 5), for addresses of the web alone.
enum LinkResolution {
    /// Nil for what leads nowhere on the web.
    static func resolve(_ link: String, from base: String) -> String? {
        let lowered = link.lowercased()
        if lowered.hasPrefix("https://") || lowered.hasPrefix("http://") { return link }
        guard let scheme = base.firstRange(of: "://") else { return nil }
        let rest = base[scheme.upperBound...]
        let hostEnd = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
        let root = String(base[..<hostEnd])
        if link.hasPrefix("//") { return String(base[..<scheme.lowerBound]) + ":" + link }
        // Another scheme is no address of the web.
        if let colon = link.firstIndex(of: ":"), !link[..<colon].contains("/") { return nil }
        if link.hasPrefix("/") { return root + normalized(link) }
        let path = rest[hostEnd...].prefix { $0 != "?" && $0 != "#" }
        if link.isEmpty { return root + String(path) }
        if link.hasPrefix("?") || link.hasPrefix("#") { return root + String(path) + link }
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "/"
        return root + normalized(folder + link)
    }

    /// Without `.` and `..`.
    private static func normalized(_ path: String) -> String {
        let end = path.firstIndex { $0 == "?" || $0 == "#" } ?? path.endIndex
        var segments: [Substring] = []
        let parts = path[..<end].split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        for (index, part) in parts.enumerated() {
            let isLast = index == parts.count - 1
            switch part {
            case ".": if isLast { segments.append("") }
            case "..":
                _ = segments.popLast()
                if isLast { segments.append("") }
            default: segments.append(part)
            }
        }
        return "/" + segments.joined(separator: "/") + path[end...]
    }

    /// Scheme and host, as far as they are there.
    static func origin(_ address: String) -> String? {
        guard let scheme = address.firstRange(of: "://") else { return nil }
        let rest = address[scheme.upperBound...]
        return String(address[..<(rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex)])
    }
}
