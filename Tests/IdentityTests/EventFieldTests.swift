import EventSourcing
import Identity
import JSON
import Testing
import Values

@Suite struct `The fields of events` {
    @Test func `every field of a sample is of the type that the catalogue says`() throws {
        for sample in try samples() {
            let shape = try #require(
                EventCatalogue.all.last { $0.name == sample.name && $0.upcast == nil })
            for field in shape.fields {
                guard let value = sample.fields[field.name] else { continue }
                #expect(
                    field.type.holds(value),
                    "\(sample.name).\(field.name) is no \(field.type): \(value)")
            }
        }
    }

    @Test func `a field that is required stands in every sample, and an optional one not in all`()
        throws
    {
        for shape in EventCatalogue.all where shape.upcast == nil {
            let written = try samples().filter { $0.name == shape.name }
            for field in shape.fields where field.isRequired {
                #expect(
                    written.allSatisfy { $0.fields[field.name] != nil },
                    "\(shape.name).\(field.name) is not required")
            }
        }
    }

    @Test func `every type and every field has one sentence`() {
        for shape in EventCatalogue.all {
            for sentence in [shape.sentence] + shape.fields.map(\.sentence) {
                #expect(
                    sentence.hasSuffix(".") && sentence.count > 4
                        && sentence.first?.isUppercase == true && sentence.count <= 100,
                    "\(shape.name): \(sentence)")
            }
        }
    }

    /// What opens something, or could be guessed from what it says.
    /// The index of events reads them so, and halts at what is none.
    @Test func `an open field that is called an account is one`() {
        for shape in EventCatalogue.all {
            for field in shape.fields where field.name == "account" {
                #expect(field.type == .uuid, "\(shape.name).\(field.name)")
            }
        }
    }

    @Test func `secrets and digests never leave`() {
        let secrets: Set = [
            "digest", "secret_digest", "state_digest", "recovery_codes", "hash", "private_key",
            "secret", "decryption_keys", "key_wrapped",
        ]
        for shape in EventCatalogue.all {
            for field in shape.fields where secrets.contains(field.name) {
                guard case .neverLeaves = field.visibility else {
                    Issue.record("\(shape.name).\(field.name) is \(field.visibility)")
                    continue
                }
            }
        }
    }
}

extension FieldType {
    fileprivate func holds(_ value: JSON) -> Bool {
        switch self {
        case .text: value.string != nil
        case .choice(let values): value.string.map { values.contains($0) } ?? false
        case .integer, .time: value.integer != nil
        case .boolean: value.bool != nil
        case .uuid: value.string.flatMap { UUID($0) } != nil
        case .bytes: value.string.flatMap { Base64URL.decode($0) } != nil
        case .list(let element): value.array?.allSatisfy(element.holds) ?? false
        case .object: value.object != nil
        }
    }
}
