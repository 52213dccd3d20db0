internal import HTTP
internal import JSON

/// Reading what a route declares from a request, and refusing all else.
extension Route {
    /// A hole that does not decode names nothing that there could be.
    func pathParameters(_ holes: [String?]) throws(Problem) -> [String: JSON] {
        var values: [String: JSON] = [:]
        for (name, text) in zip(path.parameters, holes) {
            guard let parameter = parameter(name, in: .path) else { throw Problem(.internalError) }
            guard let text else {
                throw Problem(
                    .invalidParameter, "\(name) is not percent-encoded UTF-8.", field: name)
            }
            values[name] = try parameter.value(of: text)
        }
        return values
    }

    func readQuery(_ query: String?, into values: inout [String: JSON]) throws(Problem) {
        var given: Set<String> = []
        if let query, !query.isEmpty {
            guard let pairs = Form.parse(Array(query.utf8)) else {
                throw Problem(.invalidParameter, "The query cannot be read.")
            }
            for (name, text) in pairs {
                guard let parameter = parameter(name, in: .query) else {
                    throw Problem(.unknownParameter, field: shortened(name))
                }
                guard given.insert(name).inserted else {
                    throw Problem(.repeatedParameter, field: name)
                }
                values[name] = try parameter.value(of: text)
            }
        }
        try requireAll(in: .query, of: values)
    }

    func readHeaders(_ headers: Headers, into values: inout [String: JSON]) throws(Problem) {
        for parameter in parameters where parameter.place == .header {
            let texts = headers.all(parameter.name)
            guard let text = texts.first else { continue }
            guard texts.count == 1 else {
                throw Problem(.repeatedParameter, field: parameter.name)
            }
            values[parameter.name] = try parameter.value(of: text)
        }
        try requireAll(in: .header, of: values)
    }

    func readBody(_ request: Request) throws(Problem) -> JSON {
        guard let body else {
            // What is sent with a GET is nobody's business; elsewhere the sender would believe
            // that it had been read.
            guard method == .get || request.body.isEmpty else { throw Problem(.unexpectedBody) }
            return .null
        }
        guard isJSON(request.headers["Content-Type"]) else {
            var problem = Problem(.unsupportedMediaType, "Send it as application/json.")
            problem.headers.append(("Accept", "application/json"))
            throw problem
        }
        let value: JSON
        do {
            value = try JSON.parse(request.body)
        } catch {
            throw Problem(.malformedJSON, "\(error.description).")
        }
        do {
            try body.schema.check(value)
        } catch {
            throw Problem(error)
        }
        return value
    }

    private func parameter(_ name: String, in place: Parameter.Place) -> Parameter? {
        parameters.first { $0.place == place && $0.name == name }
    }

    private func requireAll(
        in place: Parameter.Place, of values: [String: JSON]
    ) throws(Problem) {
        for parameter in parameters
        where parameter.place == place && parameter.isRequired && values[parameter.name] == nil {
            throw Problem(
                .missingParameter, "\(parameter.name) is required.", field: parameter.name)
        }
    }
}

/// `application/json`, with or without `charset=utf-8`, in any case.
private func isJSON(_ type: String?) -> Bool {
    guard let type else { return false }
    let parts = type.lowercased().utf8.split(separator: UInt8(ascii: ";")).map { part in
        part.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
    }
    guard let first = parts.first, first.elementsEqual("application/json".utf8) else {
        return false
    }
    return parts.dropFirst().allSatisfy {
        $0.elementsEqual("charset=utf-8".utf8) || $0.elementsEqual(#"charset="utf-8""#.utf8)
    }
}

/// A name that the client made up is sent back, but not whole if it is long.
private func shortened(_ name: String) -> String {
    name.utf8.count > 100 ? String(name.unicodeScalars.prefix(100)) + "…" : name
}
