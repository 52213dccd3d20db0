extension SignalRule: CustomStringConvertible {
    /// As the golden list and the command line show it.
    public var description: String {
        let head = "\(kind.standard.rawValue):\(kind.rawValue) (\(subject.rawValue))"
        let details =
            (condition == .always ? [] : [condition.rawValue])
            + (content.description.map { [$0] } ?? []) + (isOnRequest ? ["on request"] : [])
        return ([head] + details).joined(separator: ", ")
    }
}

extension SignalRule.Content {
    fileprivate var description: String? {
        switch self {
        case .none: nil
        case .claims(let names): names.joined(separator: " ")
        case .credential(let kind, let change): "\(change.rawValue) \(kind.rawValue)"
        case .authentication: "authentication"
        case .assuranceLevel: "level"
        case .compliance(let isNow): isNow ? "compliant" : "not compliant"
        case .risk: "risk"
        }
    }
}

extension OCSFRule: CustomStringConvertible {
    /// Class and activity, and what else there is to say.
    public var description: String {
        var details = ["\(recordClass.rawValue)/\(activity)"]
        if status != .success { details.append("\(status)") }
        if condition != .always { details.append(condition.rawValue) }
        if let factor { details.append("factor \(factor)") }
        if recordClass == .entityManagement, entity != .other { details.append("\(entity)") }
        if isOnRequest { details.append("on request") }
        return details.joined(separator: ", ")
    }
}
