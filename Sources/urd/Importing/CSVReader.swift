import JSON
import Values

/// The records of a CSV file (RFC 4180), whose first line names the columns: each as a JSON object of texts.
final class CSVReader: RecordReader {
    private let source: RecordSource
    private var line = 1
    private var columns: [String]?
    private static let mostColumns = 256

    init(_ source: RecordSource) { self.source = source }

    func next() throws(CommandFailure) -> ExportedRecord? {
        let columns = if let columns { columns } else { try readColumns() }
        while try source.peek() != nil {
            let first = line
            switch try readRow() {
            case .failure(let fault): return ExportedRecord(line: first, content: .failure(fault))
            case .success(let cells) where cells == [""]: continue
            case .success(let cells):
                guard cells.count <= columns.count else {
                    let fault = RecordFault(
                        reason: "too_many_cells",
                        detail: "There are \(cells.count) cells, and \(columns.count) columns.")
                    return ExportedRecord(line: first, content: .failure(fault))
                }
                var object = JSONObject()
                for (column, cell) in zip(columns, cells) where !cell.isEmpty {
                    object[column] = .string(cell)
                }
                return ExportedRecord(
                    line: first, content: .success(JSON.object(object).canonical()))
            }
        }
        return nil
    }

    private func readColumns() throws(CommandFailure) -> [String] {
        guard case .success(let cells) = try readRow() else { throw broken }
        let names = cells.map { $0.lowercased().replacing(" ", with: "_") }
        guard Set(names).count == names.count, names.count <= Self.mostColumns,
            names.contains("email") || names.contains("phone")
        else { throw broken }
        columns = names
        return names
    }

    private var broken: CommandFailure {
        CommandFailure(
            "\(source.name) is no CSV of accounts: its first line names no column email or phone, or one twice",
            remedy: "docs/moving-in.md has the columns.")
    }

    private func readRow() throws(CommandFailure) -> Result<[String], RecordFault> {
        var cells: [String] = []
        var (cell, length, isQuoted, isText) = ([UInt8](), 0, false, true)
        func end() {
            cells.append(String(decoding: cell, as: UTF8.self))
            if String(validating: cell, as: UTF8.self) == nil { isText = false }
            cell = []
        }
        while let byte = try source.next() {
            length += 1
            if length > RecordSource.longestRecord { cell = [] }
            switch byte {
            case UInt8(ascii: "\"") where isQuoted:
                if try source.peek() == byte {
                    _ = try source.next()
                    cell.append(byte)
                } else {
                    isQuoted = false
                }
            case UInt8(ascii: "\"") where cell.isEmpty: isQuoted = true
            case UInt8(ascii: ",") where !isQuoted:
                if cells.count <= Self.mostColumns { end() }
            case 0x0D where !isQuoted: break
            case 0x0A where !isQuoted:
                line += 1
                end()
                return row(cells, length, isText)
            default:
                if byte == 0x0A { line += 1 }
                cell.append(byte)
            }
        }
        end()
        if isQuoted {
            return .failure(
                RecordFault(
                    reason: "malformed", detail: "A quotation mark is opened and never closed."))
        }
        return row(cells, length, isText)
    }

    private func row(
        _ cells: [String], _ length: Int, _ isText: Bool
    ) -> Result<[String], RecordFault> {
        if length > RecordSource.longestRecord { return .failure(.tooLong) }
        guard isText else {
            return .failure(RecordFault(reason: "malformed", detail: "It is no text in UTF-8."))
        }
        return .success(cells)
    }
}
