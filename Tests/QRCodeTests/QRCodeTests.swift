import Testing

@testable import QRCode

@Suite struct `QR codes` {
    static let text = "otpauth://totp/Urd:ann%40example.org?secret=GEZDGNBVGY3TQOJQ&issuer=Urd"

    @Test(arguments: QRCode.Correction.allCases)
    func `QR codes have the three finder patterns`(correction: QRCode.Correction) throws {
        let code = try QRCode(Self.text, correction: correction)
        #expect((code.side - 17) % 4 == 0)
        let corner = [
            "#######", "#.....#", "#.###.#", "#.###.#", "#.###.#", "#.....#", "#######",
        ].map { $0.map { $0 == "#" } }
        let far = code.side - 7
        for (top, left) in [(0, 0), (0, far), (far, 0)] {
            for row in 0..<7 {
                for column in 0..<7 {
                    #expect(
                        code.isDark(row: top + row, column: left + column) == corner[row][column])
                }
            }
        }
        #expect(try QRCode(Self.text, correction: correction) == code)
    }

    @Test func `QR codes grow with the text and the error correction`() throws {
        let short = try QRCode("a")
        let long = try QRCode(String(repeating: "a", count: QRCode.mostBytes))
        #expect(short.side == 21)
        #expect(long.side > short.side)
        #expect(
            try QRCode(Self.text, correction: .high).side > QRCode(Self.text, correction: .low).side
        )
        #expect(throws: Never.self) {
            try QRCode(String(repeating: "a", count: QRCode.mostBytes), correction: .high)
        }
    }

    @Test func `QR codes have a light border`() throws {
        let code = try QRCode(Self.text)
        for place in [-1, -4, .min, code.side, .max] {
            #expect(!code.isDark(row: place, column: 0))
            #expect(!code.isDark(row: 0, column: place))
        }
    }

    @Test func `QR codes of an empty or too long text are refused`() {
        #expect(throws: QRCode.Failure(.empty)) { try QRCode("") }
        for count in [QRCode.mostBytes + 1, 1_000_000] {
            #expect(throws: QRCode.Failure(.tooLong)) {
                try QRCode(String(repeating: "a", count: count))
            }
        }
        #expect(throws: QRCode.Failure(.tooLong)) { try QRCode(String(repeating: "é", count: 501)) }
        #expect(!"\(QRCode.Failure(.tooLong))".contains("otpauth"))
    }

    @Test(arguments: ["\0", "a\0b", "\u{1F511}", "日本語", "\r\n", "<&\"'>"])
    func `QR codes encode any text`(text: String) throws {
        #expect(try QRCode(text).side >= 21)
    }

    @Test func `QR codes are made on many threads at once`() async throws {
        let expected = try (0..<20).map { try QRCode("text \($0)") }
        await withTaskGroup(of: Bool.self) { group in
            for number in 0..<200 {
                group.addTask { (try? QRCode("text \(number % 20)")) == expected[number % 20] }
            }
            for await isRight in group { #expect(isRight) }
        }
    }

    @Test func `QR codes in SVG draw each dark module once`() throws {
        let code = try QRCode(Self.text)
        let svg = code.svg
        #expect(
            svg.hasPrefix(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(code.side + 8) "))
        for word in ["<script", "style", "href", "url(", "NaN"] { #expect(!svg.contains(word)) }
        let path = try #require(svg.split(separator: "<path d=\"").last)
        var dark = Set<[Int]>()
        for run in path.prefix(while: { $0 != "\"" }).split(separator: "M") {
            let numbers = run.split { !$0.isNumber }.compactMap { Int($0) }
            let row = numbers[1] - QRCode.quietZone
            for offset in 0..<numbers[2] {
                #expect(dark.insert([row, numbers[0] - QRCode.quietZone + offset]).inserted)
            }
        }
        for row in 0..<code.side {
            for column in 0..<code.side {
                #expect(dark.contains([row, column]) == code.isDark(row: row, column: column))
            }
        }
    }

    /// RFC 1950 and PNG name no test values; these are the well-known ones of the two checksums.
    @Test func `QR codes in PNG have right checksums`() {
        #expect(crc32(Array("123456789".utf8)) == 0xCBF4_3926)
        #expect(crc32(Array("IEND".utf8)) == 0xAE42_6082)
        #expect(crc32([]) == 0)
        #expect(QRCode.adler32(Array("Wikipedia".utf8)) == 0x11E6_0398)
        #expect(QRCode.adler32([]) == 1)
        #expect(QRCode.adler32([UInt8](repeating: 0xFF, count: 100_000)) == 0x149A_302C)
    }

    @Test(arguments: [Int.min, -1, 0, 1, 3, 8, 16, 17, 1000, .max])
    func `QR codes in PNG have the requested size, within bounds`(scale: Int) throws {
        let code = try QRCode(Self.text)
        let png = code.png(scale: scale)
        let side = (code.side + 8) * min(max(scale, 1), 16)
        #expect(png.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13]))
        #expect(Int(png[18]) << 8 | Int(png[19]) == side)
        #expect(Int(png[22]) << 8 | Int(png[23]) == side)
        #expect(png.suffix(8).elementsEqual([0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82]))
        // More than one stored block where it must be.
        let data = side * (1 + (side + 7) / 8)
        #expect(png.count == 8 + 25 + 12 + 6 + data + 5 * ((data + 65534) / 65535) + 12)
    }
}
