/// The records of an export that has one on each line.
final class LineReader: RecordReader {
    private let source: RecordSource
    private var line = 0

    init(_ source: RecordSource) { self.source = source }

    func next() throws(CommandFailure) -> ExportedRecord? {
        while try source.peek() != nil {
            line += 1
            var bytes: [UInt8] = []
            var isTooLong = false
            while let byte = try source.next(), byte != 0x0A {
                if bytes.count < RecordSource.longestRecord {
                    bytes.append(byte)
                } else {
                    isTooLong = true
                }
            }
            if isTooLong { return ExportedRecord(line: line, content: .failure(.tooLong)) }
            if bytes.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { continue }
            return ExportedRecord(line: line, content: .success(bytes))
        }
        return nil
    }
}
