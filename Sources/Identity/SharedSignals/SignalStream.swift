public import EventSourcing

/// A stream of security signals to one client.
public struct SignalStream: StreamState {
    /// Nil before the stream was created.
    public private(set) var terms: SignalTerms?
    public private(set) var settings = SignalSettings()
    public private(set) var status = SignalStatus.enabled
    public private(set) var statusReason: String?
    public private(set) var isDeleted = false
    /// Those that are treated otherwise than the stream's default says.
    public private(set) var named: Set<NamedSubject> = []

    public init() {}

    public mutating func apply(_ event: SignalStreamEvent) {
        switch event {
        case .created(let terms, let settings):
            self.terms = terms
            self.settings = settings
        case .changed(let settings): self.settings = settings
        case .statusChanged(let status, let reason, _, _):
            self.status = status
            statusReason = reason
        case .subjectAdded(let subject):
            if hasAll { named.remove(subject) } else { named.insert(subject) }
        case .subjectRemoved(let subject):
            if hasAll { named.insert(subject) } else { named.remove(subject) }
        case .replayed: break
        case .deleted: isDeleted = true
        }
    }

    private var hasAll: Bool { terms?.defaultSubjects != DefaultSubjects.none }

    /// How many subjects may be named: they are all looked at for each signal.
    public static let mostNamed = 1_000

    /// The terms while there is such a stream.
    public var aliveTerms: SignalTerms? { isDeleted ? nil : terms }

    /// Whether signals about an account belong in it.
    public func includes(_ names: some Sequence<NamedSubject>) -> Bool {
        names.contains(where: named.contains) != hasAll
    }
}
