internal import CYAML

/// What libyaml says of a text, one event after the other.
@safe
final class EventReader {
    enum Event: Sendable {
        case start, end
        case documentStart, documentEnd
        case scalar(String, isPlain: Bool)
        case listStart, listEnd
        case mapStart, mapEnd
    }

    private let parser: UnsafeMutablePointer<yaml_parser_t>
    /// libyaml reads it as it goes.
    private let input: UnsafeMutableBufferPointer<UInt8>

    init(_ bytes: [UInt8]) throws(YAMLError) {
        unsafe input = .allocate(capacity: max(bytes.count, 1))
        _ = unsafe input.initialize(from: bytes)
        unsafe parser = .allocate(capacity: 1)
        guard unsafe yaml_parser_initialize(parser) == 1 else {
            unsafe parser.deallocate()
            unsafe input.deallocate()
            throw YAMLError(0, "libyaml has no memory")
        }
        unsafe yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        unsafe yaml_parser_set_input_string(parser, input.baseAddress, bytes.count)
    }

    deinit {
        unsafe yaml_parser_delete(parser)
        unsafe parser.deallocate()
        unsafe input.deallocate()
    }

    /// The next event and its line. What makes one value stand for another is refused: anchors, aliases and tags.
    func next() throws(YAMLError) -> (event: Event, line: Int) {
        var event = unsafe yaml_event_t()
        guard unsafe yaml_parser_parse(parser, &event) == 1 else { throw fault() }
        defer { unsafe yaml_event_delete(&event) }
        let line = unsafe Int(event.start_mark.line) + 1
        switch unsafe event.type {
        case YAML_STREAM_START_EVENT: return (.start, line)
        case YAML_STREAM_END_EVENT, YAML_NO_EVENT: return (.end, line)
        case YAML_DOCUMENT_START_EVENT: return (.documentStart, line)
        case YAML_DOCUMENT_END_EVENT: return (.documentEnd, line)
        case YAML_ALIAS_EVENT:
            throw YAMLError(line, "an alias (*) is not read here: write the value out")
        case YAML_SCALAR_EVENT:
            let scalar = unsafe event.data.scalar
            try unsafe refuse(scalar.anchor, scalar.tag, line)
            let bytes = unsafe UnsafeBufferPointer(start: scalar.value, count: scalar.length)
            let text = unsafe String(decoding: bytes, as: UTF8.self)
            return unsafe (.scalar(text, isPlain: scalar.style == YAML_PLAIN_SCALAR_STYLE), line)
        case YAML_SEQUENCE_START_EVENT:
            let list = unsafe event.data.sequence_start
            try unsafe refuse(list.anchor, list.tag, line)
            return (.listStart, line)
        case YAML_SEQUENCE_END_EVENT: return (.listEnd, line)
        case YAML_MAPPING_START_EVENT:
            let map = unsafe event.data.mapping_start
            try unsafe refuse(map.anchor, map.tag, line)
            return (.mapStart, line)
        case YAML_MAPPING_END_EVENT: return (.mapEnd, line)
        default: throw YAMLError(line, "this is no YAML that is read here")
        }
    }

    private func refuse(
        _ anchor: UnsafeMutablePointer<UInt8>?, _ tag: UnsafeMutablePointer<UInt8>?, _ line: Int
    ) throws(YAMLError) {
        if unsafe anchor != nil {
            throw YAMLError(line, "an anchor (&) is not read here: write the value out")
        }
        if unsafe tag != nil {
            throw YAMLError(line, "a tag (!) is not read here: put a text in quotes")
        }
    }

    private func fault() -> YAMLError {
        let problem = unsafe parser.pointee.problem
        let text = unsafe problem.map { unsafe String(cString: $0) } ?? "it cannot be read"
        let line = unsafe Int(parser.pointee.problem_mark.line) + 1
        return YAMLError(line, "this is no YAML: \(text)")
    }
}
