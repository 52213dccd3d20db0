internal import JSON

/// What a filter asks of an event: the attributes that it has, and their values.
public struct EventFacts {
    private let event: Recorded
    private let about: (String) -> [FilterValue]

    /// - Parameter about: what the index says of the event, by attribute.
    public init(_ event: Recorded, about: @escaping (String) -> [FilterValue] = { _ in [] }) {
        self.event = event
        self.about = about
    }

    public func values(of attribute: FilterAttribute) -> [FilterValue] {
        switch attribute.source {
        case .field(let name): return FilterValue.all(in: event.open[name])
        case .index: return about(attribute.name)
        case .stand: return []
        case .column: break
        }
        switch attribute.name {
        case "type": return [.text(event.name)]
        case "at": return [.time(event.at)]
        case "position": return [.integer(event.position)]
        case "stream": return [.id(event.stream)]
        case "actor": return [.text(event.actor)]
        case "outcome": return outcome
        default: return []
        }
    }

    /// How a sign-in went, which the type says; of other events, what they say.
    private var outcome: [FilterValue] {
        if ["session.opened", "browser.opened"].contains(event.name) {
            return [.text("signed_in")]
        }
        if event.name.hasSuffix("refused") { return [.text("refused")] }
        return FilterValue.all(in: event.open["outcome"])
    }
}

extension FilterExpression {
    /// Whether it holds for an event, where it does not ask the index.
    public func holds(for event: Recorded) -> Bool {
        let facts = EventFacts(event)
        return holds(facts.values)
    }
}
