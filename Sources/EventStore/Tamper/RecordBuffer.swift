import Cryptography
import JSON
import Values

/// Memory in which one record after the other is written and hashed.
struct RecordBuffer: ~Copyable {
    private var room: UnsafeMutableRawBufferPointer
    private(set) var count = 0

    init() {
        room = .allocate(byteCount: 4096, alignment: 16)
    }

    deinit {
        room.deallocate()
    }

    /// Begins a record with the mark of a leaf. No more than `room` bytes may follow.
    mutating func start(room needed: Int) {
        if needed > room.count {
            room.deallocate()
            room = .allocate(byteCount: needed * 2, alignment: 16)
        }
        room[0] = 0
        count = 1
    }

    var leaf: TreeHash {
        Merkle.leaf(marked: UnsafeRawBufferPointer(rebasing: room[..<count]))
    }

    /// The record without the mark.
    var record: [UInt8] { [UInt8](room[1..<max(1, count)]) }

    mutating func write(_ text: StaticString) {
        write(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    mutating func write(_ bytes: UnsafeRawBufferPointer) {
        precondition(bytes.count <= room.count - count, "A record fits into its room.")
        guard let source = bytes.baseAddress, let start = room.baseAddress else { return }
        (start + count).copyMemory(from: source, byteCount: bytes.count)
        count += bytes.count
    }

    mutating func write(decimal value: Int64) {
        precondition(room.count - count >= 20, "A record fits into its room.")
        if value < 0 {
            room[count] = UInt8(ascii: "-")
            count += 1
        }
        var rest = value.magnitude
        var digits = 1
        var power: UInt64 = 10
        while digits < 20, rest >= power {
            digits += 1
            let (next, overflow) = power.multipliedReportingOverflow(by: 10)
            if overflow { break }
            power = next
        }
        var index = count + digits
        count = index
        for _ in 0..<digits {
            index -= 1
            room[index] = 48 + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
    }

    /// Sixteen bytes in the form with hyphens.
    mutating func write(uuid: UnsafeRawBufferPointer) {
        precondition(room.count - count >= 36 && uuid.count == 16, "A record fits into its room.")
        for index in 0..<16 {
            if index == 4 || index == 6 || index == 8 || index == 10 {
                room[count] = UInt8(ascii: "-")
                count += 1
            }
            let byte = uuid[index]
            room[count] = hexadecimal(byte >> 4)
            room[count + 1] = hexadecimal(byte & 15)
            count += 2
        }
    }

    /// The base64url of the SHA-256 of some bytes.
    mutating func write(digestOf bytes: UnsafeRawBufferPointer) {
        let digest = [UInt8](unsafeUninitializedCapacity: SHA256.digestLength) { digest, count in
            SHA256.hash(bytes, into: UnsafeMutableRawBufferPointer(digest))
            count = SHA256.digestLength
        }
        for byte in Base64URL.encode(digest).utf8 {
            room[count] = byte
            count += 1
        }
    }

    /// A text in quotes. What an application wrote needs no escape; what an intruder wrote may.
    mutating func write(quoting text: UnsafeRawBufferPointer) {
        let isPlain = text.allSatisfy {
            $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
        }
        if isPlain {
            write("\"")
            write(text)
            write("\"")
        } else {
            var quoted: [UInt8] = []
            JSON.string(String(decoding: text, as: UTF8.self)).write(into: &quoted)
            quoted.withUnsafeBytes { write($0) }
        }
    }
}

private func hexadecimal(_ value: UInt8) -> UInt8 {
    value < 10 ? 48 + value : 87 + value
}
