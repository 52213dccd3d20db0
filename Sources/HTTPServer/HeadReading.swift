internal import CMicroHTTPD
internal import Glibc
internal import HTTP

/// Takes a request's first line and headers out of libmicrohttpd's buffer.
///
/// The library reads names and values as C strings, repairs folded headers (wrongly, in 0.9.75),
/// and so would hide all that stands behind a NUL. It keeps all of them where they came in, one
/// after the other: where a gap between two is not just the line's end, the head is malformed.
/// Addresses are compared, never followed.
@unsafe func readHead(
    _ arrival: Arrival, target: [UInt8], targetAddress: UInt, _ configuration: Configuration
) -> Result<RequestHead, Refusal> {
    guard let method = unsafe arrival.method, let version = unsafe arrival.version else {
        return .failure(.malformed)
    }
    let start = UInt(bitPattern: method)
    let size = unsafe mhd_shim_header_bytes(arrival.handle)
    guard size <= configuration.maximumHeaderBytes else { return .failure(.headersTooLarge) }
    guard unsafe start &+ UInt(strlen(method)) &+ 1 == targetAddress,
        targetAddress &+ UInt(target.count) &+ 1 == UInt(bitPattern: version)
    else { return .failure(.malformed) }

    var walk = unsafe HeadWalk(end: UInt(bitPattern: version) &+ UInt(strlen(version)))
    _ = unsafe withUnsafeMutablePointer(to: &walk) { walk in
        unsafe MHD_get_connection_values_n(
            arrival.handle, .HEADER_KIND, takeField, UnsafeMutableRawPointer(walk))
    }
    // The last line's end and the empty line. A line ends with two bytes (RFC 9112 section 2.2): a
    // server that accepts one of them alone sees other fields than one that does not (request
    // smuggling).
    if start &+ UInt(size) &- walk.end != 4 { walk.reader.refuse(.malformed) }
    return unsafe walk.reader.finish(
        method: String(cString: method), target: target, version: String(cString: version),
        maximumBodyBytes: configuration.maximumBodyBytes)
}

/// Has libmicrohttpd 0.9.75 not take cookies apart, of which nothing here makes use: it takes a
/// value of one quotation mark alone for one in quotes that is a byte shorter than nothing, and
/// refuses the request with 431, so that an attacker who plants that cookie locks a browser out
/// (RFC 6265 section 5.2 knows no malformed value). It reads the first field of that name: this is
/// one before any of the client's.
@unsafe func leaveCookiesAlone(of connection: OpaquePointer) {
    let name = unsafe UnsafeRawPointer(noCookies.utf8Start).assumingMemoryBound(to: CChar.self)
    // Without room for it there is none for the client's fields either.
    _ = unsafe MHD_set_connection_value(connection, .HEADER_KIND, name, nil)
}

/// The name of an empty header field, recognised by its address.
private let noCookies: StaticString = "Cookie"

/// The fields read so far, and the address at which the last one ended.
private struct HeadWalk {
    var reader = HeadReader()
    var end: UInt
}

private func takeField(
    context: UnsafeMutableRawPointer?, kind: MHD_ValueKind, name: UnsafePointer<CChar>?,
    nameCount: Int, value: UnsafePointer<CChar>?, valueCount: Int
) -> MHD_Result {
    guard let walk = unsafe context?.assumingMemoryBound(to: HeadWalk.self) else { return .NO }
    if unsafe UnsafeRawPointer(name) == UnsafeRawPointer(noCookies.utf8Start) { return .YES }
    guard let name = unsafe name, let value = unsafe value else {
        unsafe walk.pointee.reader.refuse(.malformed)
        return .NO
    }
    let gap = unsafe UInt(bitPattern: name) &- walk.pointee.end
    if gap != 2 { unsafe walk.pointee.reader.refuse(.malformed) }
    unsafe walk.pointee.end = UInt(bitPattern: value) &+ UInt(valueCount)
    unsafe walk.pointee.reader.add(
        name: UnsafeRawBufferPointer(start: name, count: nameCount),
        value: UnsafeRawBufferPointer(start: value, count: valueCount))
    return .YES
}
