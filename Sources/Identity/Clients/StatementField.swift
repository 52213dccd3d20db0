internal import JSON

extension MetadataField {
    /// Sealed: a maker may say in it whom to ask.
    static var statement: MetadataField {
        let field = text(
            "software_statement", \.softwareStatement, isPersonal: true,
            "The software statement of a client that registered itself; it cannot be set"
        ) { text throws(FieldFault.Reason) in
            guard text.utf8.count <= 16_384 else { throw .tooLong(limit: 16_384) }
        }
        return MetadataField(
            name: field.name, about: field.about, schema: field.schema, isPersonal: true,
            get: field.get,
            set: { metadata, value throws(FieldFault) in
                try field.set(&metadata, value)
                metadata.isVouchedFor = true
            }, check: field.check)
    }
}
