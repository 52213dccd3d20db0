import Foundation

/// Writes databases of addresses (MaxMind DB 2.0) for tests, as its specification says.
struct DatabaseWriter {
    enum Value {
        case text(String)
        case double(Double)
        case number(UInt32)
        case map([(String, Value)])
    }

    private enum Record {
        case none
        case node(Int)
        case data(Int)
    }

    private var nodes: [[Record]] = [[.none, .none]]
    private var data: [UInt8] = []
    var type = "Test-City"
    var builtAt: UInt64 = 1_790_000_000

    /// - Parameter bits: of the prefix; an IPv4 network stands below ::/96.
    mutating func add(_ address: [UInt8], bits: Int, _ value: Value) {
        let isFour = address.count == 4
        let bytes = (isFour ? Array(repeating: 0, count: 12) : []) + address
        let offset = data.count
        Self.write(value, into: &data)
        var node = 0
        let last = bits + (isFour ? 96 : 0) - 1
        for index in 0...last {
            let side = Int(bytes[index / 8] >> (7 - UInt8(index % 8)) & 1)
            if index == last {
                nodes[node][side] = .data(offset)
            } else if case .node(let next) = nodes[node][side] {
                node = next
            } else {
                nodes.append([.none, .none])
                nodes[node][side] = .node(nodes.count - 1)
                node = nodes.count - 1
            }
        }
    }

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        for record in nodes.flatMap({ $0 }) {
            let number: Int
            switch record {
            case .none: number = nodes.count
            case .node(let index): number = index
            case .data(let offset): number = nodes.count + 16 + offset
            }
            bytes += [16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
        }
        bytes += Array(repeating: 0, count: 16) + data
        bytes += [0xAB, 0xCD, 0xEF] + Array("MaxMind.com".utf8)
        Self.head(7, 9, &bytes)
        for (name, number) in [("node_count", UInt32(nodes.count))] {
            Self.write(.text(name), into: &bytes)
            Self.write(.number(number), into: &bytes)
        }
        for (name, number) in [
            ("record_size", 24), ("ip_version", 6), ("binary_format_major_version", 2),
            ("binary_format_minor_version", 0),
        ] {
            Self.write(.text(name), into: &bytes)
            bytes += [5 << 5 | 2, 0, UInt8(number)]
        }
        Self.write(.text("build_epoch"), into: &bytes)
        bytes +=
            [8, 2]
            + stride(from: 56, through: 0, by: -8).map {
                UInt8(truncatingIfNeeded: builtAt >> UInt64($0))
            }
        Self.write(.text("database_type"), into: &bytes)
        Self.write(.text(type), into: &bytes)
        Self.write(.text("languages"), into: &bytes)
        bytes += [0, 4]
        Self.write(.text("description"), into: &bytes)
        Self.write(.map([]), into: &bytes)
        return bytes
    }

    private static func head(_ type: UInt8, _ size: Int, _ bytes: inout [UInt8]) {
        if size < 29 {
            bytes.append(type << 5 | UInt8(size))
        } else {
            bytes += [type << 5 | 29, UInt8(size - 29)]
        }
    }

    private static func write(_ value: Value, into bytes: inout [UInt8]) {
        switch value {
        case .text(let text):
            head(2, text.utf8.count, &bytes)
            bytes += Array(text.utf8)
        case .double(let number):
            head(3, 8, &bytes)
            bytes += stride(from: 56, through: 0, by: -8).map {
                UInt8(truncatingIfNeeded: number.bitPattern >> UInt64($0))
            }
        case .number(let number):
            head(6, 4, &bytes)
            bytes += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> UInt32($0)) }
        case .map(let members):
            head(7, members.count, &bytes)
            for (name, value) in members {
                write(.text(name), into: &bytes)
                write(value, into: &bytes)
            }
        }
    }
}

/// A file of its own for each test.
func temporaryFile(_ bytes: [UInt8]) throws -> String {
    let path = NSTemporaryDirectory() + "urd-geo-\(UUID().uuidString).mmdb"
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    return path
}
