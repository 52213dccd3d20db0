/// UTF-8 bytes sort like UTF-16 code units but for one thing: scalars above U+FFFF (lead byte F0 and
/// up) are surrogates in UTF-16 and so come before U+E000…U+FFFF (lead bytes EE and EF).
func precedesInUTF16(_ left: String, _ right: String) -> Bool {
    var rest = right.utf8.makeIterator()
    for byte in left.utf8 {
        guard let other = rest.next() else { return false }
        if byte == other { continue }
        if byte >= 0xEE, other >= 0xEE, (byte >= 0xF0) != (other >= 0xF0) { return byte >= 0xF0 }
        return byte < other
    }
    return rest.next() != nil
}
