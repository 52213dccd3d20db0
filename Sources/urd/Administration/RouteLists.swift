import API

extension RouteCommand {
    /// A list with commas is what many try first, and would be taken for one long value.
    func requireNoCommas(
        _ input: Operation.Input, _ given: [String]
    ) throws(UsageError) {
        let name = "--\(flag(input))"
        for text in given {
            let behind = text.split(separator: ",", omittingEmptySubsequences: false).dropFirst()
            guard !behind.isEmpty else { continue }
            if input.kind == .texts, !input.choices.isEmpty || behind.contains(where: beginsAddress)
            {
                throw UsageError(
                    "\(name) '\(text)' would be one value: give \(name) again for each one")
            }
            if input.name == "scope" {
                throw UsageError("\(name) '\(text)' would be one scope: write spaces between them")
            }
        }
    }

    /// Whether it begins with a scheme, as addresses and names of apps do. A comma may stand in them.
    private func beginsAddress(_ text: Substring) -> Bool {
        let scheme = text.utf8.drop { $0 == 0x20 }.prefix { $0 != 0x3A }
        return scheme.endIndex != text.utf8.endIndex && scheme.first.map(isLetter) == true
            && scheme.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || isMark($0) }
    }

    private func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

    /// One of `+`, `-` and `.`.
    private func isMark(_ byte: UInt8) -> Bool { [0x2B, 0x2D, 0x2E].contains(byte) }
}
