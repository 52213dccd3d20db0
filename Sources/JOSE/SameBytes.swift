extension String {
    /// Whether both are the same bytes. `==` on strings lets spellings of one text be equal, such as
    /// the Kelvin sign and the letter K: an identifier that only looks like another is another.
    func hasSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }

    /// Printable ASCII in lower case; everything else unchanged.
    var asciiLowercased: String {
        String(
            decoding: utf8.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }, as: UTF8.self)
    }
}
