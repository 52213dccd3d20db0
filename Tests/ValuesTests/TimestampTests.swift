import Testing
import Values

@Suite struct `A timestamp is read from RFC 3339` {
    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0),
            ("1970-01-01T00:00:00.000001Z", 1),
            ("1969-12-31T23:59:59.999999Z", -1),
            ("1985-04-12T23:20:50.52Z", 482_196_050_520_000),
            ("1996-12-19T16:39:57-08:00", 851_042_397_000_000),
            ("1996-12-20T00:39:57Z", 851_042_397_000_000),
            ("1937-01-01T12:00:27.87+00:20", -1_041_337_172_130_000),
            ("1990-12-31T23:59:60Z", 662_688_000_000_000),
            ("1990-12-31T15:59:60-08:00", 662_688_000_000_000),
            ("2016-12-31T23:59:60.5Z", 1_483_228_800_500_000),
            ("2015-06-30T23:59:60Z", 1_435_708_800_000_000),
            ("2026-11-21T01:23:45.123456Z", 1_795_224_225_123_456),
            ("2026-11-21t01:23:45.123456z", 1_795_224_225_123_456),
            ("2026-11-21T01:23:45.1234569Z", 1_795_224_225_123_456),
            ("2026-11-21T01:23:45.123456999Z", 1_795_224_225_123_456),
            ("2026-11-21T01:23:45.1Z", 1_795_224_225_100_000),
            ("2026-11-21T01:23:45-00:00", 1_795_224_225_000_000),
            ("2026-11-21T02:23:45+01:00", 1_795_224_225_000_000),
            ("2026-11-22T01:22:45+23:59", 1_795_224_225_000_000),
            ("2000-02-29T00:00:00Z", 951_782_400_000_000),
            ("2024-02-29T23:59:59Z", 1_709_251_199_000_000),
            ("0000-01-01T00:00:00Z", -62_167_219_200_000_000),
            ("0000-02-29T00:00:00Z", -62_162_121_600_000_000),
            ("0001-01-01T00:00:00+00:01", -62_135_596_860_000_000),
            ("9999-12-31T23:59:59.999999Z", 253_402_300_799_999_999),
        ] as [(String, Int64)])
    func `a timestamp is read with any offset and up to nine decimals`(
        text: String, microseconds: Int64
    ) {
        #expect(Timestamp(rfc3339: text)?.microseconds == microseconds)
    }

    @Test(arguments: [
        "", "2026", "2026-11-21", "2026-11-21T01:23:45", "2026-11-21T01:23Z", "01:23:45Z",
        "2026-11-21 01:23:45Z", "2026-11-21_01:23:45Z", "2026-11-21T01:23:45 Z",
        " 2026-11-21T01:23:45Z", "2026-11-21T01:23:45Z ", "2026-11-21T01:23:45Z\n",
        "2026-11-21T01:23:45ZZ", "2026-11-21T01:23:45.Z", "2026-11-21T01:23:45,5Z",
        "2026-11-21T01:23:45.1234567890Z", "2026-11-21T01:23:45.12a456Z",
        "26-11-21T01:23:45Z", "12026-11-21T01:23:45Z", "-2026-11-21T01:23:45Z",
        "+2026-11-21T01:23:45Z", "2026-1-21T01:23:45Z", "2026-11-1T01:23:45Z",
        "2026-11-21T1:23:45Z", "20261121T012345Z", "2026-W47-6T01:23:45Z", "2026-325T01:23:45Z",
        "2026-11-21T01:23:45+01", "2026-11-21T01:23:45+0100", "2026-11-21T01:23:45+1:00",
        "2026-11-21T01:23:45+01:00:00", "2026-11-21T01:23:45UTC", "2026-11-21T01:23:45−01:00",
        "２026-11-21T01:23:45Z", "2026-11-21T01:23:4٥Z", "2026-11-21T01:23:45Z\u{0}",
        "9999-12-31T23:59:59.999999999999999999999999999Z",
    ])
    func `a timestamp that only resembles RFC 3339 is refused`(text: String) {
        #expect(Timestamp(rfc3339: text) == nil)
    }

    @Test(arguments: [
        "2026-00-21T01:23:45Z", "2026-13-21T01:23:45Z", "2026-11-00T01:23:45Z",
        "2026-11-31T01:23:45Z", "2026-12-32T01:23:45Z", "2026-04-31T01:23:45Z",
        "2026-02-29T01:23:45Z", "2024-02-30T01:23:45Z", "1900-02-29T00:00:00Z",
        "2100-02-29T00:00:00Z", "2026-11-21T24:00:00Z", "2026-11-21T01:60:45Z",
        "2026-11-21T01:23:61Z", "2026-11-21T01:23:45+24:00", "2026-11-21T01:23:45+01:60",
        "2026-11-21T01:23:45-99:99",
    ])
    func `a timestamp of a day or hour that does not exist is refused`(text: String) {
        #expect(Timestamp(rfc3339: text) == nil)
    }

    @Test(arguments: [
        "2016-12-31T23:58:60Z", "2016-12-30T23:59:60Z", "2016-12-31T23:59:60+01:00",
        "2016-11-30T23:59:60Z", "2016-06-30T00:00:60Z",
    ])
    func `a timestamp of a leap second is refused where UTC has none`(text: String) {
        #expect(Timestamp(rfc3339: text) == nil)
    }

    @Test(arguments: ["0000-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01"])
    func `a timestamp outside of the writable years is refused`(text: String) {
        #expect(Timestamp(rfc3339: text) == nil)
    }

    @Test func `a timestamp is read as written, day by day over four hundred years`() {
        for day in Int64(-80_000)...80_000 {
            let time = Timestamp(microseconds: day * 86_400_000_000 + 86_399_999_999)
            #expect(Timestamp(rfc3339: time.description) == time, "day \(day)")
        }
    }
}

@Suite struct `A timestamp is written` {
    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000000Z"),
            (-1, "1969-12-31T23:59:59.999999Z"),
            (1_795_224_225_123_456, "2026-11-21T01:23:45.123456Z"),
            (951_782_400_000_000, "2000-02-29T00:00:00.000000Z"),
            (-2_203_891_200_000_000, "1900-03-01T00:00:00.000000Z"),
            (-62_167_219_200_000_000, "0000-01-01T00:00:00.000000Z"),
            (253_402_300_799_999_999, "9999-12-31T23:59:59.999999Z"),
            (253_402_300_800_000_000, "+010000-01-01T00:00:00.000000Z"),
            (-62_167_219_200_000_001, "-000001-12-31T23:59:59.999999Z"),
            (.max, "+294247-01-10T04:00:54.775807Z"),
            (.min, "-290308-12-21T19:59:05.224192Z"),
        ] as [(Int64, String)])
    func `a timestamp is written in UTC with six decimals`(microseconds: Int64, text: String) {
        #expect(Timestamp(microseconds: microseconds).description == text)
    }
}

@Suite struct `A timestamp` {
    @Test func `a timestamp moves by seconds and microseconds`() {
        let time = Timestamp(microseconds: 5)
        #expect(time.adding(seconds: 2).microseconds == 2_000_005)
        #expect(time.adding(seconds: -2).microseconds == -1_999_995)
        #expect(time.adding(microseconds: -5) == Timestamp(microseconds: 0))
        #expect(Timestamp(microseconds: 9).microseconds(since: time) == 4)
    }

    @Test(
        arguments: [
            (0, .max, .max), (0, .min, .min), (.max, 1, .max), (.min, -1, .min), (1, .max, .max),
            (-1, .min, .min), (.max, .max, .max), (0, 9_223_372_036_855, .max),
        ] as [(Int64, Int64, Int64)])
    func `a timestamp saturates when it is moved too far`(start: Int64, seconds: Int64, end: Int64)
    {
        #expect(Timestamp(microseconds: start).adding(seconds: seconds).microseconds == end)
    }

    @Test func `a timestamp saturates in its other operations`() {
        let first = Timestamp(microseconds: .min)
        let last = Timestamp(microseconds: .max)
        #expect(last.adding(microseconds: .max) == last)
        #expect(first.adding(microseconds: .min) == first)
        #expect(last.microseconds(since: first) == .max)
        #expect(first.microseconds(since: last) == .min)
        #expect(Timestamp(seconds: .max) == last)
        #expect(Timestamp(seconds: .min) == first)
        #expect(Timestamp(microseconds: 0).microseconds(since: first) == .max)
    }

    @Test func `a timestamp counts whole seconds, rounded towards the past`() {
        #expect(Timestamp(seconds: 7).microseconds == 7_000_000)
        #expect(Timestamp(microseconds: 7_999_999).seconds == 7)
        #expect(Timestamp(microseconds: -1).seconds == -1)
        #expect(Timestamp(microseconds: .min).seconds == -9_223_372_036_855)
    }

    @Test func `a timestamp sorts by time`() {
        #expect(Timestamp(microseconds: -1) < Timestamp(microseconds: 0))
        #expect(Timestamp(microseconds: 1) > Timestamp(microseconds: 0))
    }
}
