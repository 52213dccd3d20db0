internal import CMicroHTTPD
internal import HTTP

/// Hands a response to libmicrohttpd, which copies all of it. False when there is no memory for it
/// or the exchange is already answered: then the connection is given up.
///
/// MHD_create_response_from_buffer, MHD_add_response_header, MHD_queue_response
func queue(
    _ response: Response, id: String, serverName: String?, closing: Bool,
    on connection: OpaquePointer?
) -> MHD_Result {
    let code = (200...599).contains(response.status.code) ? response.status.code : 500
    let body = code == 204 || code == 304 ? [] : response.body
    let made = unsafe body.withUnsafeBytes { bytes in
        unsafe MHD_create_response_from_buffer(
            bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress),
            .RESPMEM_MUST_COPY)
    }
    guard let made = unsafe made else { return .NO }
    defer { unsafe MHD_destroy_response(made) }
    unsafe addHeaders(of: response, id: id, serverName: serverName, closing: closing, to: made)
    return unsafe MHD_queue_response(connection, UInt32(code), made)
}

/// Hands over a response whose body libmicrohttpd asks for while it sends it; 503 where there are too
/// many of them.
///
/// MHD_create_response_from_callback
func queueStream(
    _ response: Response, of exchange: Exchange, hasBody: Bool, _ server: Core, closing: Bool,
    on connection: OpaquePointer?
) -> MHD_Result {
    let serverName = server.configuration.serverName
    let code = response.status.code
    guard let body = response.stream, (200...599).contains(code), code != 204, code != 304 else {
        var bare = response
        bare.stream = nil
        return unsafe queue(
            bare, id: exchange.id, serverName: serverName, closing: closing, on: connection)
    }
    guard hasBody else {
        return unsafe queueHead(
            response, id: exchange.id, serverName: serverName, closing: closing, on: connection)
    }
    guard server.streamBegan() else {
        server.refused(.streamsTooMany)
        return unsafe queue(
            Refusal.streamsTooMany.response, id: exchange.id, serverName: serverName,
            closing: closing, on: connection)
    }
    let stream = ResponseStream(body, of: exchange, server)
    let context = unsafe Unmanaged.passRetained(stream).toOpaque()
    // The buffer is for clients of HTTP/1.0 alone: a chunk is read into the connection's own.
    guard
        let made = unsafe MHD_create_response_from_callback(
            .max, 256, streamRead, context, streamReleased)
    else {
        unsafe streamReleased(context: context)
        return .NO
    }
    defer { unsafe MHD_destroy_response(made) }
    unsafe addHeaders(
        of: response, id: exchange.id, serverName: serverName, closing: closing, to: made)
    return unsafe MHD_queue_response(connection, UInt32(code), made)
}

/// Of a stream, to a HEAD request.
private func queueHead(
    _ response: Response, id: String, serverName: String?, closing: Bool,
    on connection: OpaquePointer?
) -> MHD_Result {
    guard
        let made = unsafe MHD_create_response_from_callback(
            .max, 1, streamRead, nil, streamReleased)
    else { return .NO }
    defer { unsafe MHD_destroy_response(made) }
    _ = unsafe mhd_shim_unchunk(made)
    unsafe addHeaders(of: response, id: id, serverName: serverName, closing: closing, to: made)
    return unsafe MHD_queue_response(connection, UInt32(response.status.code), made)
}

private func addHeaders(
    of response: Response, id: String, serverName: String?, closing: Bool, to made: OpaquePointer
) {
    func add(_ name: String, _ value: String) {
        // Not by the shorter way, which copies both. A name or value that would break the header apart is
        // refused by the library, and left out.
        unsafe name.withCString { name in
            unsafe value.withCString { value in
                _ = unsafe MHD_add_response_header(made, name, value)
            }
        }
    }
    for (name, value) in response.headers where !isOurs(name) { add(name, value) }
    add("X-Request-Id", id)
    if let serverName { add("Server", serverName) }
    if closing { add("Connection", "close") }
}

/// Framing and identity of the exchange belong to the server; a handler's word on them is left out.
private func isOurs(_ name: String) -> Bool {
    switch name.utf8.count {
    case 4: isEqual(name, "date")
    case 6: isEqual(name, "server")
    case 7: isEqual(name, "upgrade") || isEqual(name, "trailer")
    case 10: isEqual(name, "connection") || isEqual(name, "keep-alive")
    case 12: isEqual(name, "x-request-id")
    case 14: isEqual(name, "content-length")
    case 17: isEqual(name, "transfer-encoding")
    default: false
    }
}

/// Both are as long; `lowercase` has letters and hyphens alone.
private func isEqual(_ name: String, _ lowercase: String) -> Bool {
    zip(name.utf8, lowercase.utf8).allSatisfy { $0 | 0x20 == $1 }
}
