public import JSON
public import Values

/// A value of an event: the fields of the log that hold it, and how it is written to them and read again.
public struct Field<Value: Sendable>: Sendable {
    public let columns: [EventField]
    public let write: @Sendable (Value, inout JSONObject) -> Void
    public let read: @Sendable (JSONObject) throws(UnreadField) -> Value

    @inlinable
    public init(
        _ columns: [EventField],
        write: @escaping @Sendable (Value, inout JSONObject) -> Void,
        read: @escaping @Sendable (JSONObject) throws(UnreadField) -> Value
    ) {
        self.columns = columns
        self.write = write
        self.read = read
    }

    /// In one field, which each event of its kind has.
    @inlinable
    public init(
        _ column: EventField, write: @escaping @Sendable (Value) -> JSON,
        read: @escaping @Sendable (JSON) -> Value?
    ) {
        let name = column.name
        self.init([column]) { value, fields in
            fields[name] = write(value)
        } read: { fields throws(UnreadField) in
            guard let json = fields[name], let value = read(json) else { throw UnreadField() }
            return value
        }
    }

    /// A record: several fields that are read and written as one value.
    @inlinable
    public static func record<each Part: Sendable>(
        _ part: repeat Field<each Part>,
        make: @escaping @Sendable (repeat each Part) -> Value,
        take: @escaping @Sendable (Value) -> (repeat each Part)
    ) -> Field {
        .mapped(repeat each part, write: take, read: make)
    }

    /// A value that stands in the log as another one, or as several. Nil for columns that were never written.
    @inlinable
    public static func mapped<each Written: Sendable>(
        _ part: repeat Field<each Written>,
        write: @escaping @Sendable (Value) -> (repeat each Written),
        read: @escaping @Sendable (repeat each Written) -> Value?
    ) -> Field {
        var columns: [EventField] = []
        for field in repeat each part { columns += field.columns }
        return Field(columns) { value, fields in
            let written = write(value)
            for (field, value) in repeat (each part, each written) { field.write(value, &fields) }
        } read: { fields throws(UnreadField) in
            guard let value = read(repeat try (each part).read(fields)) else { throw UnreadField() }
            return value
        }
    }

    /// Nil where it is not there, or cannot be read: its subject may be erased.
    @inlinable
    public static func optional<Part>(_ field: Field<Part>) -> Field where Value == Part? {
        Field(field.columns.map(\.optional)) { value, fields in
            if let value { field.write(value, &fields) }
        } read: { fields in
            try? field.read(fields)
        }
    }

    /// A field with a default: left out where it has the default, which is read where the field is missing.
    @inlinable
    public static func unless(_ usual: Value, _ field: Field) -> Field where Value: Equatable {
        Field(field.columns.map(\.optional)) { value, fields in
            if value != usual { field.write(value, &fields) }
        } read: { fields in
            (try? field.read(fields)) ?? usual
        }
    }
}

extension Field {
    /// Always written, and this one where it is not there: its subject may be erased.
    @inlinable
    public static func readAs(_ missing: Value, _ field: Field) -> Field {
        Field(field.columns, write: field.write) { fields in
            (try? field.read(fields)) ?? missing
        }
    }

    /// A value that stands in the log as another one, or by its absence. An unreadable value is not
    /// taken for an absent one.
    @inlinable
    public static func whereThere<Written: Sendable>(
        _ field: Field<Written>, write: @escaping @Sendable (Value) -> Written?,
        read: @escaping @Sendable (Written?) -> Value?
    ) -> Field {
        Field(field.columns.map(\.optional)) { value, fields in
            if let written = write(value) { field.write(written, &fields) }
        } read: { fields throws(UnreadField) in
            let isThere = field.columns.contains { fields[$0.name] != nil }
            guard let value = read(isThere ? try field.read(fields) : nil) else {
                throw UnreadField()
            }
            return value
        }
    }

    /// A value that writes and reads its fields itself.
    @inlinable
    public static func whole(
        _ columns: [EventField], write: @escaping @Sendable (Value) -> JSONObject,
        read: @escaping @Sendable (JSONObject) -> Value?
    ) -> Field {
        Field(columns) { value, fields in
            fields.merge(write(value)) { own, _ in own }
        } read: { fields throws(UnreadField) in
            guard let value = read(fields) else { throw UnreadField() }
            return value
        }
    }
}

/// A field is not there, or holds what was never written: a defect, not an input error.
public struct UnreadField: Error {
    public init() {}
}

extension Field<String> {
    public static func text(
        _ name: String, _ sentence: String, _ visibility: EventField.Visibility = .open
    ) -> Field {
        text(name, .text, sentence, visibility)
    }

    /// A text of some form.
    public static func text(
        _ name: String, _ type: FieldType, _ sentence: String,
        _ visibility: EventField.Visibility = .open
    ) -> Field {
        Field(EventField(name, type, sentence, visibility), write: { .string($0) }, read: \.string)
    }
}

extension Field<[String]> {
    /// No texts where the field is missing.
    public static func texts(
        _ name: String, _ sentence: String, _ visibility: EventField.Visibility = .open
    ) -> Field {
        texts(name, .text, sentence, visibility)
    }

    /// Texts of some form.
    public static func texts(
        _ name: String, _ type: FieldType, _ sentence: String,
        _ visibility: EventField.Visibility = .open
    ) -> Field {
        .list(name, type, sentence, visibility, write: { $0 }, read: { $0 })
    }
}

extension Field {
    /// A field whose value is a member of an enumeration.
    @inlinable
    public static func choice(
        _ name: String, _ sentence: String
    ) -> Field where Value: RawRepresentable<String> & CaseIterable {
        Field(
            EventField(name, .choice(Value.allCases.map(\.rawValue)), sentence),
            write: { .string($0.rawValue) }, read: { $0.string.flatMap(Value.init(rawValue:)) })
    }

    /// Texts of some form. No texts where the field is missing.
    @inlinable
    public static func list<Element: Sendable>(
        _ name: String, _ type: FieldType, _ sentence: String,
        _ visibility: EventField.Visibility = .open,
        write: @escaping @Sendable (Element) -> String,
        read: @escaping @Sendable (String) -> Element?
    ) -> Field where Value == [Element] {
        Field([EventField(name, .list(type), sentence, visibility)]) { values, fields in
            fields[name] = .array(values.map { .string(write($0)) })
        } read: { fields throws(UnreadField) in
            guard let json = fields[name] else { return [] }
            guard let texts = json.array else { throw UnreadField() }
            let values = texts.compactMap { $0.string.flatMap(read) }
            guard values.count == texts.count else { throw UnreadField() }
            return values
        }
    }
}

extension Field<UUID> {
    public static func uuid(_ name: String, _ sentence: String) -> Field {
        Field(
            .uuid(name, sentence), write: { .string($0.description) },
            read: { $0.string.flatMap { UUID($0) } })
    }
}

extension Field<[UUID]> {
    public static func uuids(_ name: String, _ sentence: String) -> Field {
        .list(name, .uuid, sentence, write: \.description, read: { UUID($0) })
    }
}

extension Field<Int64> {
    public static func integer(
        _ name: String, _ sentence: String, _ visibility: EventField.Visibility = .open
    ) -> Field {
        Field(
            EventField(name, .integer, sentence, visibility), write: { .integer($0) },
            read: \.integer)
    }
}

extension Field<Int> {
    public static func number(_ name: String, _ sentence: String) -> Field {
        .mapped(.integer(name, sentence), write: { Int64($0) }, read: { Int(clamping: $0) })
    }
}

extension Field<Bool> {
    public static func flag(_ name: String, _ sentence: String) -> Field {
        Field(.flag(name, sentence), write: { .bool($0) }, read: \.bool)
    }
}

extension Field<Timestamp> {
    public static func time(_ name: String, _ sentence: String) -> Field {
        Field(
            .time(name, sentence), write: { .integer($0.seconds) },
            read: { $0.integer.map { Timestamp(seconds: $0) } })
    }
}

extension Field<JSONObject> {
    public static func object(
        _ name: String, _ sentence: String, _ visibility: EventField.Visibility = .open
    ) -> Field {
        Field(
            EventField(name, .object, sentence, visibility), write: { .object($0) }, read: \.object)
    }
}

extension Field<JSON> {
    /// An object, or what else was given for one.
    public static func json(_ name: String, _ sentence: String) -> Field {
        Field(.object(name, sentence), write: { $0 }, read: { $0 })
    }
}

extension Field<[UInt8]> {
    /// Bytes in base64url.
    public static func bytes(
        _ name: String, _ sentence: String, _ visibility: EventField.Visibility = .open
    ) -> Field {
        .mapped(
            .text(name, .bytes, sentence, visibility), write: { Base64URL.encode($0) },
            read: { Base64URL.decode($0) })
    }
}
