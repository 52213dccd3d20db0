internal import HTTP
internal import JSON
internal import Values

extension Answer {
    static func ok(_ description: String, _ schema: Schema, example: JSON) -> Answer {
        Answer(
            status: .ok, description: description, content: .json(schema, example: example))
    }

    /// What a write answers: it says where in the log it stands.
    static func written(
        _ status: Status, _ description: String, _ schema: Schema, example: JSON
    ) -> Answer {
        Answer(
            status: status, description: description, content: .json(schema, example: example),
            headers: [position])
    }

    static func created(_ description: String, _ schema: Schema, example: JSON) -> Answer {
        Answer(
            status: .created, description: description, content: .json(schema, example: example),
            headers: [position, ("Location", "URL of the new object.")])
    }

    static func ok<View>(_ description: String, _ shape: Shape<View>) -> Answer {
        ok(description, shape.schema, example: shape.example)
    }

    static func written<View>(
        _ status: Status, _ description: String, _ shape: Shape<View>
    ) -> Answer {
        written(status, description, shape.schema, example: shape.example)
    }

    static func created<View>(_ description: String, _ shape: Shape<View>) -> Answer {
        created(description, shape.schema, example: shape.example)
    }

    /// What is made after the answer.
    static func accepted<View>(
        _ description: String, _ shape: Shape<View>, location: String
    ) -> Answer {
        Answer(
            status: .accepted, description: description,
            content: .json(shape),
            headers: [("Location", location)])
    }

    /// An answer without a body.
    static func done(_ description: String) -> Answer {
        Answer(status: .noContent, description: description, content: .nothing)
    }

    static func gone(_ description: String) -> Answer {
        Answer(
            status: .noContent, description: description, content: .nothing, headers: [position])
    }

    private static let position = (
        name: "Urd-Position",
        description: "Position of the write in the realm's log, as `realm:epoch:position`."
    )
}

extension Answer.Content {
    static func json<View>(_ shape: Shape<View>) -> Self {
        .json(shape.schema, example: shape.example)
    }
}

extension Response {
    func located(_ path: String) -> Response {
        var response = self
        response.headers["Location"] = path
        return response
    }
}

extension Call {
    func requiredID(_ name: String) throws(Problem) -> UUID {
        guard let id = UUID(try required(name)) else { throw Problem(.internalError) }
        return id
    }
}
