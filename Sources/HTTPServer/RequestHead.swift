internal import HTTP

/// A request's first line and headers, checked: what is not exactly HTTP/1.1 is refused here,
/// because two readers who repair the same bytes differently are how requests are smuggled.
///
/// RFC 9112, sections 3, 5 and 6
struct RequestHead {
    let method: Method
    let path: String
    let query: String?
    let headers: Headers
    /// Nil without a Content-Length, as with chunks.
    let contentLength: Int?
    let isChunked: Bool
}

/// Collects a head field by field.
struct HeadReader {
    private var headers = Headers()
    private var hosts = 0
    private var contentLengths = 0
    private var contentLength: Int?
    private var transferCodings = 0
    private var refusal: Refusal?

    /// Both buffers are the client's bytes as they came.
    mutating func add(name: UnsafeRawBufferPointer, value untrimmed: UnsafeRawBufferPointer) {
        let value = unsafe trimmed(untrimmed)
        let before = headers.count
        unsafe headers.append(
            String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self))
        // `Headers` takes no name that is not a token, and repairs values; nothing is repaired here.
        if unsafe headers.count == before || !value.allSatisfy(isFieldByte) { refuse(.malformed) }
        if unsafe equal(name, "host") {
            hosts += 1
            if unsafe !value.allSatisfy(isHostByte) || value.isEmpty { refuse(.host) }
        } else if unsafe equal(name, "content-length") {
            contentLengths += 1
            contentLength = unsafe decimal(value)
            if contentLength == nil { refuse(.framing) }
        } else if unsafe equal(name, "transfer-encoding") {
            transferCodings += 1
            // To libmicrohttpd 0.9.75 a space behind it makes another coding of it, and it would wait for
            // the rest of the body until the client goes.
            if unsafe !equal(untrimmed, "chunked") { refuse(.transferCoding) }
        }
    }

    mutating func refuse(_ reason: Refusal) {
        refusal = refusal ?? reason
    }

    /// `target` is the request target as it came, its query included.
    func finish(
        method: String, target: [UInt8], version: String, maximumBodyBytes: Int
    ) -> Result<RequestHead, Refusal> {
        if let refusal { return .failure(refusal) }
        guard target.first == UInt8(ascii: "/"), target.allSatisfy(isTargetByte) else {
            return .failure(.target)
        }
        let isOld = version == "HTTP/1.0"
        guard isOld ? hosts < 2 : hosts == 1 else { return .failure(.host) }
        guard contentLengths + transferCodings < 2, !(isOld && transferCodings > 0) else {
            return .failure(.framing)
        }
        guard let method = Method(rawValue: method) else { return .failure(.method) }
        guard contentLength ?? 0 <= maximumBodyBytes else { return .failure(.bodyTooLarge) }
        let mark = target.firstIndex(of: UInt8(ascii: "?"))
        let path = target[..<(mark ?? target.endIndex)]
        let query = mark.map { target[($0 + 1)...] }
        return .success(
            RequestHead(
                method: method, path: String(decoding: path, as: UTF8.self),
                query: query.map { String(decoding: $0, as: UTF8.self) }, headers: headers,
                contentLength: contentLength, isChunked: transferCodings > 0))
    }
}

private func trimmed(_ value: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
    var slice = unsafe value[...]
    while unsafe slice.last.map(isSpace) == true { unsafe slice.removeLast() }
    while unsafe slice.first.map(isSpace) == true { unsafe slice.removeFirst() }
    return unsafe UnsafeRawBufferPointer(rebasing: slice)
}

/// `lowercase` is ASCII and has no capitals.
private func equal(_ bytes: UnsafeRawBufferPointer, _ lowercase: StaticString) -> Bool {
    guard bytes.count == lowercase.utf8CodeUnitCount else { return false }
    return lowercase.withUTF8Buffer { expected in
        unsafe zip(bytes, expected).allSatisfy { byte, letter in
            (65...90).contains(byte) ? byte | 0x20 == letter : byte == letter
        }
    }
}

/// Digits alone; a number that does not fit is as good as the largest.
func decimal(_ bytes: UnsafeRawBufferPointer) -> Int? {
    guard unsafe !bytes.isEmpty else { return nil }
    var result = 0
    for index in bytes.indices {
        let byte = unsafe bytes[index]
        guard (48...57).contains(byte) else { return nil }
        let (product, overflow) = result.multipliedReportingOverflow(by: 10)
        let (sum, again) = product.addingReportingOverflow(Int(byte - 48))
        result = overflow || again ? .max : sum
    }
    return result
}

/// Visible characters, space, tab and what is beyond ASCII.
private func isFieldByte(_ byte: UInt8) -> Bool { byte >= 0x20 && byte != 0x7F || byte == 0x09 }

/// Visible ASCII without `#`, which belongs to the client. Other characters in a path come
/// percent-encoded.
private func isTargetByte(_ byte: UInt8) -> Bool {
    (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "#")
}

/// A name, an address, an address in brackets, and a port.
private func isHostByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 48...57, 65...90, 97...122: true
    case 45, 46, 58, 91, 93, 95, 126: true  // - . : [ ] _ ~
    default: false
    }
}
