import Glibc

/// The bytes of an export, piece by piece: files of gigabytes are never held whole.
final class RecordSource {
    /// A record that is longer is no account.
    static let longestRecord = 1 << 20
    /// So many bytes tell what a file is.
    private static let beginning = 4

    let name: String
    /// Of the file; nil where it is a pipe.
    let size: Int64?
    private let descriptor: Int32
    private(set) var read: Int64 = 0
    private var piece: [UInt8] = []
    private var place = 0

    /// `-` is the input.
    init(_ path: String) throws(CommandFailure) {
        name = path
        descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw CommandFailure("\(SystemFailure("read", path))")
        }
        let facts = path == "-" ? nil : File.facts(path)
        guard facts?.isFolder != true else {
            throw CommandFailure("\(path) is a folder", remedy: "Name a file of the export.")
        }
        size = facts?.isRegular == true ? facts?.size : nil
    }

    deinit { if descriptor != STDIN_FILENO { close(descriptor) } }

    /// The next byte; nil at the end.
    func next() throws(CommandFailure) -> UInt8? {
        if place == piece.count, try !fill() { return nil }
        defer { place += 1 }
        return piece[place]
    }

    func peek() throws(CommandFailure) -> UInt8? {
        if place == piece.count, try !fill() { return nil }
        return piece[place]
    }

    private func fill() throws(CommandFailure) -> Bool {
        let isFirst = read == 0
        (piece, place) = (try readPiece(), 0)
        if isFirst {
            // A pipe may give its beginning byte by byte.
            while (1..<Self.beginning).contains(piece.count) {
                let more = try readPiece()
                if more.isEmpty { break }
                piece += more
            }
            try checkBeginning()
        }
        return place < piece.count
    }

    private func readPiece() throws(CommandFailure) -> [UInt8] {
        var room = [UInt8](repeating: 0, count: 1 << 16)
        var count = 0
        repeat {
            count = room.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
        } while count < 0 && errno == EINTR
        guard count >= 0 else { throw CommandFailure("\(SystemFailure("read", name))") }
        read += Int64(count)
        return Array(room.prefix(count))
    }

    /// What is no text is refused before anything is made of it.
    private func checkBeginning() throws(CommandFailure) {
        if piece.isEmpty { throw CommandFailure("\(name) is empty") }
        if piece.starts(with: [0x1F, 0x8B]) {
            throw CommandFailure(
                "\(name) is compressed by gzip",
                remedy: "Unpack it on the way: gunzip -c FILE | urd import accounts - …")
        }
        if piece.starts(with: [0x50, 0x4B, 3, 4]) {
            throw CommandFailure(
                "\(name) is a ZIP archive", remedy: "Unpack it, and name the file in it.")
        }
        if piece.starts(with: [0xFF, 0xFE]) || piece.starts(with: [0xFE, 0xFF])
            || piece.contains(0)
        {
            throw CommandFailure(
                "\(name) is no text in UTF-8", remedy: "Save or convert it as UTF-8.")
        }
        if piece.starts(with: [0xEF, 0xBB, 0xBF]) { place = 3 }
    }
}

/// One account of an export, or why it is none, with its place.
struct ExportedRecord {
    /// Of the file, from 1.
    let line: Int
    let content: Result<[UInt8], RecordFault>
}

/// Why a record of an export is not read.
struct RecordFault: Error, Equatable {
    let reason: String
    var field: String?
    let detail: String

    static let tooLong = RecordFault(
        reason: "too_long", detail: "The record is longer than a MiB.")
}

/// Reads the records of an export one after the other.
protocol RecordReader: AnyObject {
    /// Nil at the end.
    func next() throws(CommandFailure) -> ExportedRecord?
}
