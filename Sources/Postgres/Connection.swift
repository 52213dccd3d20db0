internal import CPostgres

/// A statement with a name of its own: each connection prepares it once, when it first needs it.
public struct Statement: Sendable {
    public let name: String
    public let sql: String

    public init(_ name: String, _ sql: String) {
        self.name = name
        self.sql = sql
    }
}

/// One connection. It belongs to the thread that uses it and is not safe to share.
///
/// https://www.postgresql.org/docs/15/libpq.html
@safe public final class Connection {
    private let handle: OpaquePointer
    private var prepared: Set<String> = []
    private let nulls = NullReads()
    /// Which server this is, where it came through a fence.
    public internal(set) var history: ServerHistory?

    /// Opens a connection. Servers that only read are refused, regardless of the address, unless
    /// `readOnly` allows them.
    public convenience init(
        _ address: String, application: String = "urd", readOnly: Bool = false
    ) throws(Failure) {
        try self.init(address, application: application, readOnly: readOnly, only: nil)
    }

    /// - Parameters:
    ///   - place: the one server of the address that is meant.
    ///   - patience: seconds to wait for it; nil leaves them to the address.
    init(
        _ address: String, application: String, readOnly: Bool = false, only place: ServerPlace?,
        patience: Int? = nil
    ) throws(Failure) {
        // A value that is empty sets nothing.
        let settings: [(String, String)] = [
            // What stands in the address wins over what stands before it.
            ("connect_timeout", "5"), ("tcp_user_timeout", "10000"), ("keepalives_idle", "10"),
            ("client_encoding", "UTF8"), ("fallback_application_name", application),
            ("dbname", address),
            ("host", place?.host ?? ""), ("hostaddr", place?.hostaddr ?? ""),
            ("port", place?.port ?? ""), ("connect_timeout", patience.map(String.init) ?? ""),
            ("target_session_attrs", readOnly ? "any" : "read-write"),
        ]
        let handle = unsafe withCStrings(settings.map(\.0)) { names in
            unsafe withCStrings(settings.map(\.1)) { values in
                unsafe PQconnectdbParams(names, values, 1)
            }
        }
        guard let handle = unsafe handle else { throw .connection("out of memory") }
        guard unsafe PQstatus(handle) == CONNECTION_OK else {
            let detail = unsafe String(cString: PQerrorMessage(handle))
            unsafe PQfinish(handle)
            throw .connection(detail, explanation: Explanation.of(detail, address: address))
        }
        unsafe self.handle = unsafe handle
        unsafe serverProcess = PQbackendPID(handle)
        unsafe _ = PQsetNoticeProcessor(handle, ignoreNotice, nil)
    }

    /// What PostgreSQL keeps of a role's password, and takes in its place (SCRAM-SHA-256).
    public func verifier(ofPassword password: String, of role: String) throws(Failure) -> String {
        guard
            let text = unsafe PQencryptPasswordConn(handle, password, role, "scram-sha-256")
        else { throw lost() }
        defer { unsafe PQfreemem(text) }
        return unsafe String(cString: text)
    }

    /// Where others find the same database, as whom they are: also those that don't read a folder of sockets out of the place
    /// of a host.
    ///
    /// - Parameters:
    ///   - networkHost: the host for roles that may not use the folder of sockets; none by default.
    ///   - other: another database of the same server; this one by default.
    public func address(
        user: String, password: String, insteadOfSockets networkHost: String? = nil,
        database other: String? = nil
    ) -> String {
        var host = unsafe String(cString: PQhost(handle))
        if let networkHost, host.hasPrefix("/") { host = networkHost }
        let port = unsafe String(cString: PQport(handle))
        let database = unsafe other ?? String(cString: PQdb(handle))
        let start = "postgresql://\(user):\(password)@"
        return host.hasPrefix("/")
            ? "\(start)/\(database)?host=\(host)&port=\(port)"
            : "\(start)\(host.contains(":") ? "[\(host)]" : host):\(port)/\(database)"
    }

    /// The server's version: 150004 is 15.4.
    public var serverVersion: Int { Int(unsafe PQserverVersion(handle)) }

    /// The variables by which PostgreSQL's own programs come to this database, the password among them.
    ///
    /// https://www.postgresql.org/docs/15/libpq-envars.html
    public var environment: [String] {
        guard let options = unsafe PQconninfo(handle) else { return [] }
        defer { unsafe PQconninfoFree(options) }
        var variables: [String] = []
        var option = unsafe options
        while unsafe option.pointee.keyword != nil {
            if let name = unsafe option.pointee.envvar, let value = unsafe option.pointee.val,
                unsafe value.pointee != 0
            {
                unsafe variables.append("\(String(cString: name))=\(String(cString: value))")
            }
            unsafe option += 1
        }
        return variables
    }

    deinit {
        unsafe PQfinish(handle)
    }

    public var isAlive: Bool { unsafe PQstatus(handle) == CONNECTION_OK }

    /// Looks for what arrived meanwhile. A server that goes says farewell first: only who looks
    /// twice sees the end behind it.
    public func isStillThere() -> Bool {
        unsafe PQconsumeInput(handle) == 1 && PQconsumeInput(handle) == 1 && isAlive
    }

    /// The server process that serves this connection, or did while it lived.
    public let serverProcess: Int32

    /// Runs one or more statements without parameters, from text.
    @discardableResult
    public func run(_ script: String) throws(Failure) -> Rows {
        try leavePipeline()
        guard let result = unsafe PQexec(handle, script) else { throw lost() }
        return try unsafe accept(result)
    }

    /// Runs a prepared statement and waits for its rows.
    @discardableResult
    public func execute(
        _ statement: Statement, _ parameters: Parameters = Parameters()
    ) throws(Failure) -> Rows {
        try leavePipeline()
        try prepare(statement, parameters)
        nulls.statement = statement.name
        let result = unsafe withPointers(parameters) { values, lengths, formats in
            unsafe PQexecPrepared(
                handle, statement.name, Int32(parameters.slots.count), values, lengths, formats, 1)
        }
        guard let result = unsafe result else { throw lost() }
        return try unsafe accept(result)
    }

    /// Runs a statement that is not worth preparing.
    @discardableResult
    public func executeOnce(_ sql: String, _ parameters: Parameters) throws(Failure) -> Rows {
        try leavePipeline()
        let result = unsafe withPointers(parameters) { values, lengths, formats in
            unsafe PQexecParams(
                handle, sql, Int32(parameters.slots.count), parameters.types, values, lengths,
                formats, 1)
        }
        guard let result = unsafe result else { throw lost() }
        return try unsafe accept(result)
    }

    /// A transaction: committed when the closure returns, rolled back when it throws.
    @discardableResult
    public func transaction<Value>(
        _ begin: String = "begin", _ body: (Connection) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try run(begin)
        do throws(Failure) {
            let value = try body(self)
            try refuseNulls()
            try run("commit")
            return value
        } catch {
            if isAlive { _ = try? run("rollback") }
            throw error
        }
    }

    /// Prepares a statement whose parameters have the types of these. Does nothing for an already
    /// prepared statement.
    public func prepare(_ statement: Statement, _ parameters: Parameters) throws(Failure) {
        guard !prepared.contains(statement.name) else { return }
        let result = unsafe PQprepare(
            handle, statement.name, statement.sql, Int32(parameters.types.count), parameters.types)
        guard let result = unsafe result else { throw lost() }
        _ = try unsafe accept(result)
        prepared.insert(statement.name)
    }

    /// Throws where a null was read, since the last call, from a column that must have none.
    func refuseNulls() throws(Failure) {
        if let column = nulls.take() { throw .damaged(column) }
    }

    /// What waits for its result can only be called when no statement is under way.
    private func leavePipeline() throws(Failure) {
        try refuseNulls()
        guard unsafe PQpipelineStatus(handle) != PQ_PIPELINE_OFF else { return }
        guard unsafe PQexitPipelineMode(handle) == 1 else { throw lost() }
    }

    private func lost() -> Failure {
        unsafe .connection(String(cString: PQerrorMessage(handle)))
    }

    /// Takes a result over: rows where it went well, a failure where it did not.
    private func accept(_ result: OpaquePointer) throws(Failure) -> Rows {
        switch unsafe PQresultStatus(result) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_SINGLE_TUPLE, PGRES_EMPTY_QUERY,
            PGRES_COPY_OUT, PGRES_COPY_IN:
            return unsafe Rows(owning: result, nulls: nulls)
        default:
            let code = unsafe PQresultErrorField(result, sqlStateField)
            let message = unsafe PQresultErrorMessage(result)
            let failure = unsafe Failure(
                code: code.map { unsafe String(cString: $0) } ?? "",
                detail: message.map { unsafe String(cString: $0) } ?? "")
            unsafe PQclear(result)
            throw failure
        }
    }
}

// MARK: - Pipeline

extension Connection {
    /// Sends a statement as a transaction of its own without waiting.
    /// - Parameter early: whether its result comes before the commit, so that the caller can use the
    ///   time that the commit takes. Otherwise both come at once, which wakes the caller once less.
    public func send(
        _ statement: Statement, _ parameters: Parameters, early: Bool = true
    ) throws(Failure) {
        if unsafe PQpipelineStatus(handle) == PQ_PIPELINE_OFF {
            guard unsafe PQenterPipelineMode(handle) == 1 else { throw lost() }
        }
        precondition(
            prepared.contains(statement.name), "A pipeline sends statements that are prepared.")
        let sent = unsafe withPointers(parameters) { values, lengths, formats in
            unsafe PQsendQueryPrepared(
                handle, statement.name, Int32(parameters.slots.count), values, lengths, formats, 1)
        }
        guard sent == 1 else { throw lost() }
        if early {
            guard unsafe PQsendFlushRequest(handle) == 1 else { throw lost() }
        }
        guard unsafe PQpipelineSync(handle) == 1, unsafe PQflush(handle) >= 0 else { throw lost() }
    }

    /// The result of the oldest statement under way. Not yet committed.
    public func receive() throws(Failure) -> Rows {
        guard let result = unsafe PQgetResult(handle) else { throw lost() }
        // Each statement's results end with a null, also after a failure.
        defer { if isAlive { unsafe PQclear(PQgetResult(handle)) } }
        return try unsafe accept(result)
    }

    /// Waits for the commit of the oldest statement under way.
    public func receiveCommit() throws(Failure) {
        var failure: Failure?
        var nulls = 0
        while true {
            guard let result = unsafe PQgetResult(handle) else {
                // A null ends the results of a failure, once; more of them mean that no answer will come.
                nulls += 1
                guard isAlive, failure != nil, nulls < 3 else {
                    throw .connection("the pipeline ended before its commit")
                }
                continue
            }
            if unsafe PQresultStatus(result) == PGRES_PIPELINE_SYNC {
                unsafe PQclear(result)
                if let failure { throw failure }
                return
            }
            do throws(Failure) {
                _ = try unsafe accept(result)
            } catch {
                if failure == nil { failure = error }
                // The server's farewell: libpq may think that the connection is well.
                if error.isConnectionLost || !isAlive { throw error }
            }
        }
    }
}

// MARK: - COPY

extension Connection {
    /// Streams the rows of a `copy (…) to stdout` in its wire form, a message at a time. The buffer
    /// is valid inside the closure only.
    public func copyOut(
        _ sql: String, _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        try run(sql)
        while true {
            var start: UnsafeMutablePointer<CChar>?
            let length = unsafe PQgetCopyData(handle, &start, 0)
            guard length >= 0, let first = unsafe start else {
                guard length != -2 else { throw lost() }
                break
            }
            defer { unsafe PQfreemem(first) }
            try unsafe body(
                UnsafeBufferPointer(
                    start: UnsafeRawPointer(first).assumingMemoryBound(to: UInt8.self),
                    count: Int(length)))
        }
        while let result = unsafe PQgetResult(handle) {
            _ = try unsafe accept(result)
        }
    }
}

// MARK: - C

/// PG_DIAG_SQLSTATE, a macro with a character in it.
private let sqlStateField = Int32(UInt8(ascii: "C"))

private let ignoreNotice: PQnoticeProcessor = { _, _ in }

/// An array of C strings that ends with a null, valid inside the closure.
private func withCStrings<Value>(
    _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Value
) -> Value {
    var bytes: [CChar] = []
    var offsets: [Int] = []
    for string in strings {
        offsets.append(bytes.count)
        bytes.append(contentsOf: string.utf8.map { CChar(bitPattern: $0) })
        bytes.append(0)
    }
    return unsafe bytes.withUnsafeBufferPointer { buffer in
        var pointers: [UnsafePointer<CChar>?] = unsafe []
        for offset in offsets {
            unsafe pointers.append(buffer.baseAddress.map { unsafe $0 + offset })
        }
        unsafe pointers.append(nil)
        return unsafe pointers.withUnsafeBufferPointer { list in
            guard let first = list.baseAddress else {
                preconditionFailure("The list holds its own end.")
            }
            return unsafe body(first)
        }
    }
}

/// The pointers that libpq wants beside the values, valid inside the closure.
private func withPointers<Value>(
    _ parameters: Parameters,
    _ body: (
        UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?
    ) -> Value
) -> Value {
    let lengths = parameters.slots.map { Int32($0?.length ?? 0) }
    let formats = [Int32](repeating: 1, count: parameters.slots.count)
    return unsafe parameters.bytes.withUnsafeBufferPointer { buffer in
        // An empty value still needs an address: null would mean null.
        let base = unsafe UnsafeRawPointer(buffer.baseAddress ?? emptyValue)
            .assumingMemoryBound(to: CChar.self)
        let values: [UnsafePointer<CChar>?] = unsafe parameters.slots.map { slot in
            unsafe slot.map { unsafe base + $0.offset }
        }
        return unsafe values.withUnsafeBufferPointer { values in
            unsafe lengths.withUnsafeBufferPointer { lengths in
                unsafe formats.withUnsafeBufferPointer { formats in
                    unsafe body(values.baseAddress, lengths.baseAddress, formats.baseAddress)
                }
            }
        }
    }
}

private nonisolated(unsafe) let emptyValue: UnsafePointer<UInt8> = {
    let value = UnsafeMutablePointer<UInt8>.allocate(capacity: 1)
    unsafe value.initialize(to: 0)
    return unsafe UnsafePointer(value)
}()
