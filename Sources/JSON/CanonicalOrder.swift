/// UTF-8 bytes sort like UTF-16 code units but for one thing: scalars above U+FFFF (lead byte F0 and
/// up) are surrogates in UTF-16 and so come before U+E000…U+FFFF (lead bytes EE and EF).
func precedesInUTF16(_ left: String, _ right: String) -> Bool {
    let (left, right) = (left.utf8Span.span, right.utf8Span.span)
    for index in 0..<min(left.count, right.count) where left[index] != right[index] {
        let (byte, other) = (left[index], right[index])
        if byte >= 0xEE, other >= 0xEE, (byte >= 0xF0) != (other >= 0xF0) { return byte >= 0xF0 }
        return byte < other
    }
    return left.count < right.count
}
