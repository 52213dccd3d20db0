/// A place in the same origin: a path, with a query if need be, and nothing that a browser could take
/// for another host.
public struct ReturnPath: Sendable, Equatable {
    public let text: String

    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count <= 4096, bytes.first == UInt8(ascii: "/"),
            // Browsers read a backslash as a slash, and leave out tabs and line ends.
            bytes.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") })
        else { return nil }
        let path = bytes.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        // Two slashes begin a host, also where dots in front of them are resolved first.
        for (first, second) in zip(path, path.dropFirst())
        where first == UInt8(ascii: "/") && second == UInt8(ascii: "/") {
            return nil
        }
        self.text = text
    }
}
