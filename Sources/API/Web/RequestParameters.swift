internal import HTTP
internal import JSON

/// Reading what a route declares from a request, and refusing all else.
extension Outline {
    /// A hole that does not decode names nothing that there could be.
    func pathParameters(_ holes: [String?]) throws(Problem) -> JSONObject {
        var values: JSONObject = [:]
        guard !holes.isEmpty else { return values }
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

    func readQuery(_ query: String?, into values: inout JSONObject) throws(Problem) {
        var given: Set<String> = []
        // Where no parameter is described, there is nothing to look for.
        let isIgnored = ignoresUnknown && !parameters.contains { $0.place == .query }
        if let query, !query.isEmpty, !isIgnored {
            guard let pairs = Form.parse(Array(query.utf8)) else {
                throw Problem(.invalidParameter, "The query cannot be read.")
            }
            for (name, text) in pairs {
                guard let parameter = parameter(name, in: .query) else {
                    if ignoresUnknown { continue }
                    throw Problem(.unknownParameter, field: shortened(name))
                }
                if case .list(let element, let count, _) = parameter.schema.resolved {
                    let before = values[name]?.array ?? []
                    guard before.count < count.upperBound else {
                        throw Problem(
                            .invalidParameter,
                            "\(name) may be given \(count.upperBound) times.", field: name)
                    }
                    let value = try element.value(
                        of: text, name: name, otherwise: .invalidParameter)
                    values[name] = .array(before + [value])
                    continue
                }
                guard given.insert(name).inserted else {
                    throw Problem(.repeatedParameter, field: name)
                }
                values[name] = try parameter.value(of: text)
            }
        }
        try requireAll(in: .query, of: values)
    }

    func readHeaders(_ headers: Headers, into values: inout JSONObject) throws(Problem) {
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

    private func parameter(_ name: String, in place: Parameter.Location) -> Parameter? {
        parameters.first { $0.place == place && $0.name == name }
    }

    private func requireAll(
        in place: Parameter.Location, of values: JSONObject
    ) throws(Problem) {
        for parameter in required
        where parameter.place == place && values[parameter.name] == nil {
            throw Problem(
                .missingParameter, "\(parameter.name) is required.", field: parameter.name)
        }
    }
}

/// A name that the client made up is sent back, but not whole if it is long.
func shortened(_ name: String) -> String {
    name.utf8.count > 100 ? String(name.unicodeScalars.prefix(100)) + "…" : name
}
