internal import EventSourcing
internal import Identity
internal import JSON
internal import ReadModels

/// The filters of lists and feeds, as requests give them (`docs/analysts/filters.md`).
enum FilterText {
    static let parameter = Parameter(
        "filter", in: .query, .text(1...FilterParser.mostCharacters),
        "Filter in the syntax of SCIM (RFC 7644 section 3.4.2.2): "
            + "docs/analysts/filters.md lists its attributes.",
        example: #"type sw "session." and not (actor eq "system")"#)

    static func expression(
        of text: String, _ vocabulary: FilterVocabulary, field: String = "filter"
    ) throws(Problem) -> FilterExpression {
        do throws(FilterFault) {
            return try FilterParser.expression(of: text, vocabulary)
        } catch {
            throw Problem(error, field: field)
        }
    }
}

extension Problem {
    init(_ fault: FilterFault, field: String) {
        self.init(.invalidFilter, fault.detail, field: field)
        members["at"] = .integer(Int64(fault.place))
        members["expected"] = .string(fault.expected)
    }
}

extension EventReferences {
    /// What filters ask the index, by attribute.
    func values(of attribute: String) -> FilterValue? {
        switch attribute {
        case "account": account.map { .id($0) }
        case "session": session.map { .id($0) }
        case "browser": browser.map { .id($0) }
        case "client": client.map { .id($0) }
        case "source": source.map { .text($0) }
        case "device": device.map { .text($0) }
        default: nil
        }
    }

    /// What a filter demands by itself and the index finds fastest. All that it says still has to be looked at: of an
    /// event with several references each may meet another part of it.
    init(demandedBy filter: FilterExpression) {
        self.init()
        var demanded: [String: FilterValue] = [:]
        for case .comparison(let comparison) in filter.conjuncts {
            guard comparison.attribute.source == .index, let value = comparison.onlyValue else {
                continue
            }
            demanded[comparison.attribute.name] = value
        }
        if let id = demanded["session"]?.asID {
            session = id
        } else if let id = demanded["browser"]?.asID {
            browser = id
        } else if let id = demanded["account"]?.asID {
            account = id
        } else if let text = demanded["source"]?.asText {
            source = text
        } else if let id = demanded["client"]?.asID {
            client = id
        } else {
            device = demanded["device"]?.asText
        }
    }
}

extension FilterComparison {
    /// What the attribute must equal, where that is one value.
    fileprivate var onlyValue: FilterValue? {
        [.equal, .in].contains(operation) && values.count == 1 ? values.first : nil
    }
}

extension FilterExpression {
    /// Whether it holds for an event of which the index says this.
    func holds(for event: Recorded, about references: [EventReferences]) -> Bool {
        let facts = EventFacts(event) { name in references.compactMap { $0.values(of: name) } }
        return holds(facts.values)
    }
}
