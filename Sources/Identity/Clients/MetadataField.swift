public import JSON
internal import Values

/// One member of a client's metadata: how it is read, written, checked and described.
public struct MetadataField: Sendable {
    public let name: String
    /// One line for people.
    public let about: String
    public let schema: JSONObject
    /// Stands sealed in the log.
    public let isPersonal: Bool
    let get: @Sendable (ClientMetadata.Members) -> JSON?
    /// Refuses wrong types only; whether a value is allowed is for `check`.
    let set: @Sendable (inout ClientMetadata.Members, JSON) throws(FieldFault) -> Void
    let check: @Sendable (ClientMetadata.Members) throws(FieldFault) -> Void

    typealias Rule = @Sendable (String) throws(FieldFault.Reason) -> Void
    typealias Path<Value> = any WritableKeyPath<ClientMetadata.Members, Value> & Sendable
}

extension MetadataField {
    static func text(
        _ name: String, _ path: Path<String?>, format: JSON? = nil, isPersonal: Bool = false,
        _ about: String, rule: @escaping Rule
    ) -> MetadataField {
        var schema: JSONObject = ["type": "string"]
        schema["format"] = format
        return MetadataField(
            name: name, about: about, schema: schema, isPersonal: isPersonal,
            get: { $0[keyPath: path].map { .string($0) } },
            set: { metadata, value throws(FieldFault) in
                guard let text = value.string else {
                    throw FieldFault(name, .wrongType(expected: .text))
                }
                metadata[keyPath: path] = text
            },
            check: { metadata throws(FieldFault) in
                guard let text = metadata[keyPath: path] else { return }
                do throws(FieldFault.Reason) { try rule(text) } catch {
                    throw FieldFault(name, error)
                }
            })
    }

    static func texts(
        _ name: String, _ path: Path<[String]>, limit: Int, format: JSON? = nil,
        isPersonal: Bool = false, _ about: String, rule: @escaping Rule
    ) -> MetadataField {
        var item: JSONObject = ["type": "string"]
        item["format"] = format
        return MetadataField(
            name: name, about: about,
            schema: [
                "type": "array", "items": .object(item), "maxItems": .integer(Int64(limit)),
                "uniqueItems": true,
            ],
            isPersonal: isPersonal,
            get: { metadata in
                let texts = metadata[keyPath: path]
                return texts.isEmpty ? nil : .array(texts.map { .string($0) })
            },
            set: { metadata, value throws(FieldFault) in
                metadata[keyPath: path] = try texts(name, value)
            },
            check: { metadata throws(FieldFault) in
                let texts = metadata[keyPath: path]
                guard texts.count <= limit else { throw FieldFault(name, .tooMany(limit: limit)) }
                for (index, text) in texts.enumerated() {
                    do throws(FieldFault.Reason) { try rule(text) } catch {
                        throw FieldFault(name, error, at: index)
                    }
                }
                try distinct(name, texts)
            })
    }

    static func choice<Choice: RawRepresentable<String> & CaseIterable & Sendable>(
        _ name: String, _ path: Path<Choice>, default fallback: Choice, _ about: String
    ) -> MetadataField {
        MetadataField(
            name: name, about: about,
            schema: [
                "type": "string", "enum": .array(Choice.allCases.map { .string($0.rawValue) }),
                "default": .string(fallback.rawValue),
            ],
            isPersonal: false,
            get: { .string($0[keyPath: path].rawValue) },
            set: { metadata, value throws(FieldFault) in
                guard let text = value.string else {
                    throw FieldFault(name, .wrongType(expected: .text))
                }
                guard let choice = Choice(rawValue: text) else {
                    throw FieldFault(name, .unsupported)
                }
                metadata[keyPath: path] = choice
            },
            check: { _ throws(FieldFault) in })
    }

    static func choices<Choice: RawRepresentable<String> & CaseIterable & Hashable & Sendable>(
        _ name: String, _ path: Path<[Choice]>, _ about: String
    ) -> MetadataField {
        MetadataField(
            name: name, about: about,
            schema: [
                "type": "array", "uniqueItems": true,
                "items": [
                    "type": "string", "enum": .array(Choice.allCases.map { .string($0.rawValue) }),
                ],
            ],
            isPersonal: false,
            // Also when empty: left out would mean the default.
            get: { .array($0[keyPath: path].map { .string($0.rawValue) }) },
            set: { metadata, value throws(FieldFault) in
                var choices: [Choice] = []
                for (index, text) in try texts(name, value).enumerated() {
                    guard let choice = Choice(rawValue: text) else {
                        throw FieldFault(name, .unsupported, at: index)
                    }
                    choices.append(choice)
                }
                metadata[keyPath: path] = choices
            },
            check: { metadata throws(FieldFault) in
                try distinct(name, metadata[keyPath: path])
            })
    }

    static func flag(
        _ name: String, _ path: Path<Bool>, _ about: String
    ) -> MetadataField {
        MetadataField(
            name: name, about: about, schema: ["type": "boolean", "default": false],
            isPersonal: false,
            get: { $0[keyPath: path] ? true : nil },
            set: { metadata, value throws(FieldFault) in
                guard let flag = value.bool else {
                    throw FieldFault(name, .wrongType(expected: .flag))
                }
                metadata[keyPath: path] = flag
            },
            check: { _ throws(FieldFault) in })
    }

    /// Seconds, in the range of the setting that they override.
    static func seconds(
        _ name: String, _ path: Path<Int64?>, like setting: TypedSetting<Int64>, _ about: String
    ) -> MetadataField {
        var schema = setting.setting.schema.object ?? [:]
        schema["type"] = "integer"
        schema["default"] = nil
        return MetadataField(
            name: name, about: about, schema: schema, isPersonal: false,
            get: { $0[keyPath: path].map { .integer($0) } },
            set: { metadata, value throws(FieldFault) in
                guard let number = value.integer else {
                    throw FieldFault(name, .wrongType(expected: .number))
                }
                metadata[keyPath: path] = number
            },
            check: { metadata throws(FieldFault) in
                guard let number = metadata[keyPath: path] else { return }
                do throws(FieldFault.Reason) {
                    try setting.setting.check(.integer(number))
                } catch {
                    throw FieldFault(name, error)
                }
            })
    }

    static func number(
        _ name: String, _ path: Path<Int64?>, in range: ClosedRange<Int64>, _ about: String
    ) -> MetadataField {
        MetadataField(
            name: name, about: about,
            schema: [
                "type": "integer", "minimum": .integer(range.lowerBound),
                "maximum": .integer(range.upperBound),
            ],
            isPersonal: false,
            get: { $0[keyPath: path].map { .integer($0) } },
            set: { metadata, value throws(FieldFault) in
                guard let number = value.integer else {
                    throw FieldFault(name, .wrongType(expected: .number))
                }
                metadata[keyPath: path] = number
            },
            check: { metadata throws(FieldFault) in
                guard let number = metadata[keyPath: path], !range.contains(number) else { return }
                throw FieldFault(
                    name, .outOfRange(lowest: range.lowerBound, highest: range.upperBound))
            })
    }

    static func texts(_ name: String, _ value: JSON) throws(FieldFault) -> [String] {
        guard let elements = value.array else {
            throw FieldFault(name, .wrongType(expected: .list))
        }
        var texts: [String] = []
        for (index, element) in elements.enumerated() {
            guard let text = element.string else {
                throw FieldFault(name, .wrongType(expected: .text), at: index)
            }
            texts.append(text)
        }
        return texts
    }

    static func distinct<Element: Hashable>(
        _ name: String, _ elements: [Element]
    ) throws(FieldFault) {
        var seen: Set<Element> = []
        for (index, element) in elements.enumerated() where !seen.insert(element).inserted {
            throw FieldFault(name, .duplicate, at: index)
        }
    }
}
