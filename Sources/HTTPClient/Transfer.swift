internal import CCurl
internal import Glibc

/// What one transfer sends, receives and may do; libcurl calls the functions below with it, all on
/// the thread that performs.
final class Transfer {
    private let upload: [UInt8]
    private(set) var sent = 0
    private let bodyLimit: Int
    private let cutsBody: Bool
    private let headerLimit: Int
    private let destinations: Destinations
    private var deadline: ContinuousClock.Instant
    /// Takes the body of a response that went well piece by piece, instead of keeping it.
    private let reader: Reader?
    private let cancellation: Cancellation

    private(set) var body: [UInt8] = []
    /// The lines of the last response's head, without their ends.
    private(set) var head: [[UInt8]] = []
    private var headBytes = 0
    /// Whether the empty line that ends the headers was seen.
    private(set) var isHeadComplete = false
    private(set) var isTooLarge = false
    /// Whether the reader has stopped the transfer.
    private(set) var isStopped = false
    /// An address was not called because of the rules.
    private(set) var metForbiddenAddress = false

    init(
        upload: [UInt8] = [], bodyLimit: Int, cutsBody: Bool = false,
        headerLimit: Int = 64 * 1024,
        destinations: Destinations, deadline: ContinuousClock.Instant,
        reader: Reader? = nil, cancellation: Cancellation
    ) {
        self.upload = upload
        self.bodyLimit = bodyLimit
        self.cutsBody = cutsBody
        self.headerLimit = headerLimit
        self.destinations = destinations
        self.deadline = deadline
        self.reader = reader
        self.cancellation = cancellation
    }

    /// Cancelled, or past its deadline. libcurl has clocks of its own, but they stand still while
    /// it says goodbye to a server that no longer answers.
    var isOver: Bool { cancellation.isAsked || ContinuousClock.now > deadline }

    var isCancelled: Bool { cancellation.isAsked }

    /// The last line that a mail server sent with this code; goodbyes come behind it.
    func reply(_ code: Int) -> String {
        let line = head.last { $0.starts(with: String(code).utf8) }
        return line.map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// Of the last response's head; nil where it is none.
    var statusCode: Int? {
        let words = head.first?.split(
            separator: 0x20, maxSplits: 2, omittingEmptySubsequences: false)
        guard let words, words.count >= 2, words[1].count == 3,
            words[1].allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return words[1].reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    fileprivate func receive(body bytes: UnsafeRawBufferPointer) -> Bool {
        if let reader, let statusCode, (200...299).contains(statusCode) {
            isStopped = unsafe !reader.take(Array(bytes))
            deadline = ContinuousClock.now + reader.silence
            return !isStopped
        }
        let room = bodyLimit - body.count
        guard bytes.count <= room else {
            guard cutsBody else {
                isTooLarge = true
                return false
            }
            unsafe body.append(contentsOf: bytes.prefix(room))
            isStopped = true
            return false
        }
        unsafe body.append(contentsOf: bytes)
        return true
    }

    fileprivate func receive(header bytes: UnsafeRawBufferPointer) -> Bool {
        var line = unsafe Array(bytes)
        while let last = line.last, last == 0x0A || last == 0x0D { line.removeLast() }
        headBytes += bytes.count
        guard headBytes <= headerLimit else {
            isTooLarge = true
            return false
        }
        // A status line begins the head of the next response: after a 100, or a redirect. What comes
        // behind a body is no header: a trailer could contradict what was decided on the head.
        if line.starts(with: "HTTP/".utf8) {
            head = []
            isHeadComplete = false
        }
        if line.isEmpty {
            isHeadComplete = true
        } else if !isHeadComplete {
            head.append(line)
        }
        return true
    }

    fileprivate func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(buffer.count, upload.count - sent)
        guard count > 0 else { return 0 }
        unsafe upload[sent..<(sent + count)].withUnsafeBytes { unsafe buffer.copyMemory(from: $0) }
        sent += count
        return count
    }

    fileprivate func mayCall(_ address: [UInt8]) -> Bool {
        let isAllowed = destinations.allow(address)
        if !isAllowed { metForbiddenAddress = true }
        return isAllowed
    }
}

/// Who takes a body while it comes.
struct Reader {
    /// Idle time-out: how long the server may send no byte.
    let silence: Duration
    /// Takes a chunk of the body; false stops the transfer.
    let take: ([UInt8]) -> Bool
}

private func transfer(_ context: UnsafeMutableRawPointer) -> Transfer {
    unsafe Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
}

/// Fewer bytes taken than given end the transfer.
func receiveBody(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context = unsafe context else { return 0 }
    let (total, overflow) = size.multipliedReportingOverflow(by: count)
    guard !overflow, total > 0, let bytes = unsafe bytes else { return 0 }
    let isTaken = unsafe transfer(context).receive(
        body: UnsafeRawBufferPointer(start: bytes, count: total))
    return isTaken ? total : 0
}

func receiveHeader(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context = unsafe context else { return 0 }
    let (total, overflow) = size.multipliedReportingOverflow(by: count)
    guard !overflow, total > 0, let bytes = unsafe bytes else { return 0 }
    let isTaken = unsafe transfer(context).receive(
        header: UnsafeRawBufferPointer(start: bytes, count: total))
    return isTaken ? total : 0
}

func readUpload(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context = unsafe context else { return Int(CURL_READFUNC_ABORT) }
    let (total, overflow) = size.multipliedReportingOverflow(by: count)
    guard !overflow, let bytes = unsafe bytes else { return Int(CURL_READFUNC_ABORT) }
    return unsafe transfer(context).read(
        into: UnsafeMutableRawBufferPointer(start: bytes, count: total))
}

/// Anything but zero ends the transfer.
func reportProgress(
    _ context: UnsafeMutableRawPointer?, _: curl_off_t, _: curl_off_t, _: curl_off_t,
    _: curl_off_t
) -> Int32 {
    guard let context = unsafe context else { return 1 }
    return unsafe transfer(context).isOver ? 1 : 0
}

/// Called for each address that libcurl is about to connect to, from any origin: after the name was
/// resolved, for a redirect, and for each further address of a name.
func openSocket(
    _ context: UnsafeMutableRawPointer?, _ purpose: curlsocktype,
    _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let context = unsafe context, let address = unsafe address else { return -1 }
    var bytes = [UInt8](repeating: 0, count: 16)
    let count = unsafe shim_address(address, &bytes)
    guard count > 0, unsafe transfer(context).mayCall(Array(bytes.prefix(count))) else { return -1 }
    return unsafe shim_open_socket(address)
}
