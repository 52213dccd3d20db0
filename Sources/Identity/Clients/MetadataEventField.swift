internal import EventSourcing
internal import JSON

extension MetadataField {
    /// The member in the log. An event is read as it stands, also where today's rules are others: only its
    /// type counts.
    var eventField: EventField {
        EventField(
            name, FieldType(metadata: schema), about + ".",
            isPersonal ? .personal(.administrators) : .open
        ).optional
    }
}

extension FieldType {
    fileprivate init(metadata schema: JSONObject) {
        switch schema["type"]?.string {
        case "integer": self = .integer
        case "boolean": self = .boolean
        case "object": self = .object
        case "array": self = .list(FieldType(metadata: schema["items"]?.object ?? [:]))
        default:
            if let values = schema["enum"]?.array {
                self = .choice(values.compactMap(\.string))
            } else {
                self = schema["format"] == "uuid" ? .uuid : .text
            }
        }
    }
}
