extension QRCode {
    /// A picture with `scale` pixels a side for each module, 1 to 16, one bit for each pixel.
    ///
    /// Written here: such a picture is four chunks, and its data may be stored uncompressed, which
    /// leaves two checksums to compute and no library to trust (PNG second edition, RFC 1950 and
    /// RFC 1951 section 3.2.4).
    public func png(scale: Int = 8) -> [UInt8] {
        let scale = min(max(scale, 1), 16)
        let pixels = UInt32((side + 2 * Self.quietZone) * scale)
        var png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        // One bit of grey; deflate; the only filter method; not interlaced.
        png.append(
            chunk: "IHDR", pixels.bigEndianBytes + pixels.bigEndianBytes + [1, 0, 0, 0, 0])
        png.append(chunk: "IDAT", Self.stored(rows(scale: scale)))
        png.append(chunk: "IEND", [])
        return png
    }

    /// Each row begins with its filter, which is none. White is 1; what is left of the last byte of
    /// a row counts for nothing.
    private func rows(scale: Int) -> [UInt8] {
        let pixels = (side + 2 * Self.quietZone) * scale
        var rows: [UInt8] = []
        rows.reserveCapacity(pixels * (pixels / 8 + 2))
        for row in -Self.quietZone..<side + Self.quietZone {
            var line = [UInt8](repeating: 0xFF, count: (pixels + 7) / 8)
            for column in 0..<side where isDark(row: row, column: column) {
                let start = (column + Self.quietZone) * scale
                for pixel in start..<start + scale {
                    line[pixel / 8] &= ~(0x80 >> UInt8(pixel % 8))
                }
            }
            for _ in 0..<scale { rows += [0] + line }
        }
        return rows
    }

    /// zlib's envelope around blocks that are not compressed, each of up to 65,535 bytes.
    private static func stored(_ data: [UInt8]) -> [UInt8] {
        var output: [UInt8] = [0x78, 0x01]
        var start = 0
        repeat {
            let end = min(start + 0xFFFF, data.count)
            let length = UInt16(end - start)
            output.append(end == data.count ? 1 : 0)
            for half in [length, ~length] {
                output += [UInt8(half & 0xFF), UInt8(half >> 8)]
            }
            output += data[start..<end]
            start = end
        } while start < data.count
        return output + adler32(data).bigEndianBytes
    }

    /// RFC 1950 section 9.
    static func adler32(_ data: [UInt8]) -> UInt32 {
        var low: UInt32 = 1
        var high: UInt32 = 0
        for byte in data {
            low = (low + UInt32(byte)) % 65521
            high = (high + low) % 65521
        }
        return high << 16 | low
    }
}

extension [UInt8] {
    /// Length, name, data, and a checksum of name and data.
    fileprivate mutating func append(chunk name: String, _ data: [UInt8]) {
        let body = Array(name.utf8) + data
        self += UInt32(data.count).bigEndianBytes + body + crc32(body).bigEndianBytes
    }
}

extension UInt32 {
    fileprivate var bigEndianBytes: [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: self >> UInt32($0)) }
    }
}

/// PNG annex D: the polynomial of ISO 3309, lowest bit first.
func crc32(_ bytes: [UInt8]) -> UInt32 {
    ~bytes.reduce(UInt32.max) { state, byte in
        state >> 8 ^ remainders[Int((state ^ UInt32(byte)) & 0xFF)]
    }
}

/// What each byte adds.
private let remainders: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte)) { rest, _ in
        rest & 1 == 1 ? rest >> 1 ^ 0xEDB8_8320 : rest >> 1
    }
}
