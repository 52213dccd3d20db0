import Postgres
import PostgresTesting
import Testing

/// The server's own opinion of what was sent: a mistake made twice, there and back, shows here.
@Suite struct `Values at the ends of their types` {
    private func connect() throws -> Connection {
        try Connection(TestCluster.shared.address("postgres", "postgres"))
    }

    /// The server's text for one parameter.
    private func text(_ add: (inout Parameters) -> Void) throws -> String {
        var parameters = Parameters()
        add(&parameters)
        return try connect().executeOnce("select $1::text", parameters).text(0, 0)
    }

    @Test func `integers at the ends of their types survive the server`() throws {
        #expect(try text { $0.add(Int16.min) } == "-32768")
        #expect(try text { $0.add(Int16.max) } == "32767")
        #expect(try text { $0.add(Int32.min) } == "-2147483648")
        #expect(try text { $0.add(Int32.max) } == "2147483647")
        #expect(try text { $0.add(Int64.min) } == "-9223372036854775808")
        #expect(try text { $0.add(Int64.max) } == "9223372036854775807")
        #expect(try text { $0.add(Int64(0)) } == "0")
        #expect(try text { $0.add(false) } == "false")
    }

    @Test func `identifiers, bytes and documents at the ends of their types survive the server`()
        throws
    {
        #expect(
            try text { $0.add(uuid: (0x0123_4567_89AB_CDEF, 0xFEDC_BA98_7654_3210)) }
                == "01234567-89ab-cdef-fedc-ba9876543210")
        #expect(try text { $0.add(bytes: [0, 1, 255]) } == "\\x0001ff")
        #expect(try text { $0.add(json: Array(#"{ "b":1,"a":[] }"#.utf8)) } == #"{ "b":1,"a":[] }"#)
    }

    @Test func `instants at the ends of their type survive the server`() throws {
        func instant(_ microseconds: Int64) throws -> String {
            var parameters = Parameters()
            parameters.add(time: microseconds)
            return try connect().executeOnce(
                "select to_char($1 at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')", parameters
            ).text(0, 0)
        }
        #expect(try instant(0) == "1970-01-01 00:00:00.000000")
        #expect(try instant(-1) == "1969-12-31 23:59:59.999999")
        #expect(try instant(946_684_800_000_000) == "2000-01-01 00:00:00.000000")
        #expect(try instant(1_795_225_283_123_456) == "2026-11-21 01:41:23.123456")
    }

    @Test(arguments: [Int64.min, Int64.min + 1, Int64.min / 2])
    func `instants before the server's first day are refused, not mistaken`(time: Int64) throws {
        var parameters = Parameters()
        parameters.add(time: time)
        var array = ArrayParameter(of: .timestamptz)
        array.append(time: time)
        var list = Parameters()
        list.add(array)
        let connection = try connect()
        for parameters in [parameters, list] {
            #expect(throws: Failure.self) {
                try connection.executeOnce("select $1::text", parameters)
            }
        }
        #expect(try connection.run("select 1").count == 1)
    }

    @Test func `arrays of every type keep their order`() throws {
        var int2 = ArrayParameter(of: .int2)
        for value in [Int16.min, 0, .max] { int2.append(value) }
        var int4 = ArrayParameter(of: .int4)
        for value in [Int32.min, 0, .max] { int4.append(value) }
        var int8 = ArrayParameter(of: .int8)
        for value in [Int64.min, 0, .max] { int8.append(value) }
        var bool = ArrayParameter(of: .bool)
        for value in [true, false] { bool.append(value) }
        var bytea = ArrayParameter(of: .bytea)
        for value in [[], [0], [255, 0]] as [[UInt8]] { bytea.append(bytes: value) }
        var json = ArrayParameter(of: .json)
        json.append(bytes: Array("{}".utf8))
        json.appendNull()
        var uuid = ArrayParameter(of: .uuid)
        uuid.append(uuid: (0, 0))
        uuid.append(uuid: (.max, .max))
        var time = ArrayParameter(of: .timestamptz)
        time.append(time: 0)
        #expect(try text { $0.add(int2) } == "{-32768,0,32767}")
        #expect(try text { $0.add(int4) } == "{-2147483648,0,2147483647}")
        #expect(try text { $0.add(int8) } == "{-9223372036854775808,0,9223372036854775807}")
        #expect(try text { $0.add(bool) } == "{t,f}")
        #expect(try text { $0.add(bytea) } == #"{"\\x","\\x00","\\xff00"}"#)
        #expect(try text { $0.add(json) } == "{\"{}\",NULL}")
        #expect(
            try text { $0.add(uuid) }
                == "{00000000-0000-0000-0000-000000000000,ffffffff-ffff-ffff-ffff-ffffffffffff}")
        #expect(try text { $0.add(time) } == "{\"1970-01-01 00:00:00+00\"}")
    }

    @Test func `large values survive the server`() throws {
        let large = [UInt8](repeating: 0xA5, count: 8 << 20)
        var parameters = Parameters()
        parameters.add(bytes: large)
        let rows = try connect().executeOnce("select $1, length($1)", parameters)
        #expect(rows.bytes(0, 0) == large)
        #expect(rows.int32(0, 1) == 8 << 20)
    }

    @Test func `texts with a zero byte are refused, not cut`() throws {
        var parameters = Parameters()
        parameters.add("a\u{0}b")
        let connection = try connect()
        #expect(throws: Failure.self) { try connection.executeOnce("select $1", parameters) }
        #expect(try connection.run("select 1").count == 1)
    }
}
