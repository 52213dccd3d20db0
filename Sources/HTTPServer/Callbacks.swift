internal import CMicroHTTPD
internal import Glibc
internal import HTTP

// What libmicrohttpd calls, on its own threads. They are functions of the file, never closures:
// nothing here may run on, or believe itself on, an actor. Each context is retained once where it
// is made and released once in the callback that ends its life.

func clientArrived(
    context: UnsafeMutableRawPointer?, address: UnsafePointer<sockaddr>?, length: socklen_t
) -> MHD_Result {
    guard let worker: Worker = unsafe borrowed(context) else { return .NO }
    return unsafe worker.server.accepts(Source(address)) ? .YES : .NO
}

func connectionChanged(
    context: UnsafeMutableRawPointer?, handle: OpaquePointer?,
    slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    event: MHD_ConnectionNotificationCode
) {
    guard let worker: Worker = unsafe borrowed(context), let slot = unsafe slot else { return }
    if event == .CONNECTION_NOTIFY_STARTED {
        let connection = unsafe Connection(
            descriptor: mhd_shim_socket(handle), source: Source(mhd_shim_client(handle)),
            at: monotonicNow())
        unsafe slot.pointee = unsafe Unmanaged.passRetained(connection).toOpaque()
        worker.server.connections.insert(connection)
    } else if let pointer = unsafe slot.pointee {
        let connection = unsafe Unmanaged<Connection>.fromOpaque(pointer).takeRetainedValue()
        unsafe slot.pointee = nil
        connection.enter(.closed, at: monotonicNow())
        worker.server.connections.remove(connection)
    }
}

func requestBegan(
    context: UnsafeMutableRawPointer?, target: UnsafePointer<CChar>?, handle: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    guard let worker: Worker = unsafe borrowed(context), let target = unsafe target,
        let handle = unsafe handle,
        let connection: Connection = unsafe borrowed(mhd_shim_connection_context(handle))
    else { return nil }
    let bytes = unsafe UnsafeBufferPointer(start: target, count: strlen(target))
    let exchange = unsafe Exchange(
        identifier: worker.server.identifiers.make(), connection: connection,
        handle: Handle(handle, worker),
        target: bytes.map { UInt8(bitPattern: $0) }, targetAddress: UInt(bitPattern: target))
    connection.enter(.receiving, at: monotonicNow())
    worker.server.exchangeBegan()
    unsafe leaveCookiesAlone(of: handle)
    let separators = unsafe bytes.count { $0 == CChar(0x26) }
    if separators >= mostParameters {
        worker.server.refused(.parameters)
        connection.refuse(.parameters)
    }
    worker.awaitHead(of: exchange)
    return unsafe Unmanaged.passRetained(exchange).toOpaque()
}

/// libmicrohttpd 0.9.75 keeps a record of each parameter of a query, in the memory that is meant for the
/// headers. Where it has no room for them it neither answers nor closes: it waits for its client.
let mostParameters = 200

func requestAdvanced(
    context: UnsafeMutableRawPointer?, handle: OpaquePointer?, path: UnsafePointer<CChar>?,
    method: UnsafePointer<CChar>?, version: UnsafePointer<CChar>?, data: UnsafePointer<CChar>?,
    size: UnsafeMutablePointer<Int>?, slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let worker: Worker = unsafe borrowed(context), let slot = unsafe slot,
        let exchange: Exchange = unsafe borrowed(slot.pointee), let size = unsafe size
    else { return .NO }
    worker.tookHead(of: exchange)
    let step = unsafe exchange.advance(
        Arrival(handle: handle, method: method, version: version, data: data, count: size.pointee),
        worker.server)
    unsafe size.pointee = 0
    switch step {
    case .goOn: return .YES
    case .giveUp: return .NO
    case .reply(let response, let closing):
        exchange.connection.enter(.sending, at: monotonicNow())
        let closing = closing || exchange.isLast || worker.server.isDraining
        guard response.stream != nil else {
            return unsafe queue(
                response, id: exchange.id,
                serverName: worker.server.configuration.serverName, closing: closing, on: handle)
        }
        let hasBody = unsafe method.map { unsafe strcmp($0, "HEAD") != 0 } ?? true
        return unsafe queueStream(
            response, of: exchange, hasBody: hasBody, worker.server, closing: closing, on: handle)
    }
}

func requestEnded(
    context: UnsafeMutableRawPointer?, handle: OpaquePointer?,
    slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    reason: MHD_RequestTerminationCode
) {
    guard let worker: Worker = unsafe borrowed(context), let slot = unsafe slot,
        let pointer = unsafe slot.pointee
    else { return }
    let exchange = unsafe Unmanaged<Exchange>.fromOpaque(pointer).takeRetainedValue()
    unsafe slot.pointee = nil
    worker.tookHead(of: exchange)
    exchange.connection.enter(.waiting, at: monotonicNow())
    worker.server.exchangeEnded()
}

func streamRead(
    context: UnsafeMutableRawPointer?, position: UInt64, buffer: UnsafeMutablePointer<CChar>?,
    size: Int
) -> Int {
    guard let stream: ResponseStream = unsafe borrowed(context), let buffer = unsafe buffer else {
        return ResponseStream.failure
    }
    return unsafe stream.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: size))
}

func streamReleased(context: UnsafeMutableRawPointer?) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<ResponseStream>.fromOpaque(context).takeRetainedValue().release()
}

/// libmicrohttpd 0.9.75 is about to refuse the length of a body, and would send the head of its
/// answer twice: a client would take the second one for the body of the first. Which request it is
/// about it does not say.
func lengthRefused(context: UnsafeMutableRawPointer?) {
    guard let worker: Worker = unsafe borrowed(context) else { return }
    worker.refuseUnreadableLengths()
}

/// Paths and queries are handed over as they came; decoding them is for those who know what they
/// mean, and strictly.
func leaveEscaped(
    context: UnsafeMutableRawPointer?, handle: OpaquePointer?, text: UnsafeMutablePointer<CChar>?
) -> Int {
    guard let text = unsafe text else { return 0 }
    return unsafe strlen(text)
}

/// The object behind a context, whose owner keeps it.
private func borrowed<Object: AnyObject>(_ context: UnsafeMutableRawPointer?) -> Object? {
    unsafe context.map { unsafe Unmanaged<Object>.fromOpaque($0).takeUnretainedValue() }
}
