internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import Mail
internal import ReadModels
internal import Values

/// Questions to the lists of the log: single parameters for frequent conditions, and a filter for all else. All
/// conditions must hold.
enum FilterQuestion {
    static let address = Parameter(
        "address", in: .query, .text(2...45),
        "IP address whose network the events came from; it is looked up by its "
            + "pseudonym.",
        example: "203.0.113.7")
    static let mail = Parameter(
        "mail", in: .query, .text(3...254),
        "Mail address that the events concern; it is looked up by its pseudonym.",
        example: "ann@example.org")

    /// Those of the audit trail.
    static let ofEvents = EventSelection.about + beside

    /// What the index is not asked for by parameters of its own.
    static let beside = [address, mail, FilterText.parameter]

    /// What the lists themselves show: a limited key needs no other permission to ask it.
    private static let shown: Set<String> = [
        "reason", "method", "app", "channel", "country", "asn", "fields.area",
    ]

    /// Whether it asks what stands in events and not in the list.
    static func asksFields(_ expression: FilterExpression, _ vocabulary: FilterVocabulary) -> Bool {
        let isOfEvents = vocabulary["account"]?.source == .index
        return expression.comparisons.contains { comparison in
            let name = comparison.attribute.name
            guard case .field = comparison.attribute.source else {
                return isOfEvents && name == "outcome"
            }
            return isOfEvents || !shown.contains(name)
        }
    }
}

extension Call<AdminContext> {
    /// What the parameters ask; nil where they ask nothing.
    func filter(
        _ parameters: [Parameter], _ vocabulary: FilterVocabulary
    ) async throws(Problem) -> FilterExpression? {
        var whole: FilterExpression?
        for name in parameters.map(\.name) where name != FilterText.parameter.name {
            guard let text = text(name) ?? integer(name).map(String.init) else {
                continue
            }
            let asked: FilterExpression
            do throws(FilterFault) {
                asked = try FilterParser.comparison(name, text, vocabulary)
            } catch {
                throw Problem(
                    .invalidParameter, "\(name) must be \(error.expected).", field: name)
            }
            whole = .both(whole, try await bound(asked, vocabulary, field: name))
        }
        return .both(whole, try await filter(vocabulary))
    }

    /// What `filter` asks; nil where it is not given.
    func filter(_ vocabulary: FilterVocabulary) async throws(Problem) -> FilterExpression? {
        let name = FilterText.parameter.name
        guard let text = text(name) else { return nil }
        let asked = try FilterText.expression(of: text, vocabulary)
        if FilterQuestion.asksFields(asked, vocabulary) {
            try await requirePermission(.eventsRead, for: name)
        }
        return try await bound(asked, vocabulary, field: name)
    }

    /// The same by pseudonyms and ids, which the log has in the place of addresses and names.
    func bound(
        _ asked: FilterExpression, _ vocabulary: FilterVocabulary, field: String
    ) async throws(Problem) -> FilterExpression {
        try await asked.replacing { comparison throws(Problem) in
            switch comparison.attribute.name {
            case "address": try await network(comparison, vocabulary, field)
            case "mail": try await mailbox(comparison, vocabulary, field)
            case "client" where comparison.attribute.source == .index:
                try await clients(comparison, field)
            default: .comparison(comparison)
            }
        }
    }

    private func network(
        _ comparison: FilterComparison, _ vocabulary: FilterVocabulary, _ field: String
    ) async throws(Problem) -> FilterExpression {
        guard let source = vocabulary["source"] else { throw Problem(.internalError) }
        RequestScope.current?.noteSubjectSearch()
        let mint = try await mint()
        var pseudonyms: [FilterValue] = []
        for text in comparison.values.compactMap(\.asText) {
            guard IPAddress(text) != nil else {
                throw comparison.problem("an IP address", field)
            }
            pseudonyms.append(.text(mint.pseudonym(ofNetwork: Source(text).network)))
        }
        return comparison.with(source, pseudonyms)
    }

    /// What happened to the mailbox, and all that concerns the account that holds it.
    private func mailbox(
        _ comparison: FilterComparison, _ vocabulary: FilterVocabulary, _ field: String
    ) async throws(Problem) -> FilterExpression {
        guard let account = vocabulary["account"], let stream = vocabulary["stream"],
            let named = vocabulary["fields.mailbox"]
        else { throw Problem(.internalError) }
        RequestScope.current?.noteSubjectSearch()
        let mint = try await mint()
        var mailboxes: [UUID] = []
        var accounts: [FilterValue] = []
        for text in comparison.values.compactMap(\.asText) {
            guard let address = try? MailAddress(text) else {
                throw comparison.problem("a mail address", field)
            }
            mailboxes.append(mint.mailbox(address.text))
            if let known = try await find(address.text) { accounts.append(.id(known.id)) }
        }
        let positive = FilterComparison(
            comparison.attribute, .in, comparison.values, place: comparison.place)
        let held = positive.with(account, accounts)
        var found = accounts.isEmpty ? FilterExpression.never : held
        if account.source == .index {
            found = .any([
                positive.with(stream, mailboxes.map { .id($0) }),
                positive.with(named, mailboxes.map { .text($0.description) }), found,
            ])
        }
        return comparison.operation == .notEqual ? .not(found) : found
    }

    /// A deleted client has no name any more: it is found by its id.
    private func clients(
        _ comparison: FilterComparison, _ field: String
    ) async throws(Problem) -> FilterExpression {
        guard comparison.operation != .present else { return .comparison(comparison) }
        let realm = try realm
        var ids: [FilterValue] = []
        for value in comparison.values {
            let name = value.asText ?? value.asID?.description ?? ""
            let known = try await context.ask(ClientView.byClientID, name, in: realm)
            guard let id = known?.id ?? value.asID else {
                try await knownLog()
                throw comparison.problem("a client of the realm", field)
            }
            ids.append(.id(id))
        }
        return comparison.with(comparison.attribute, ids)
    }

    private func mint() async throws(Problem) -> TokenMint {
        let realm = try realm
        return try await reading { () throws(LogFailure) in try await context.mint(realm) }
    }
}

extension FilterComparison {
    fileprivate func problem(_ expected: String, _ field: String) -> Problem {
        guard field == FilterText.parameter.name else {
            return Problem(.invalidParameter, "\(field) must be \(expected).", field: field)
        }
        return Problem(FilterFault(at: place, expected: expected), field: field)
    }
}

extension LogPlace {
    /// A page of what a filter found. Where it found nothing in its time, it is too wide.
    func page<Item, Place>(
        _ limit: Int, of scanned: ScannedPage<Item, Place>, item: (Item) -> JSON,
        position: (Item) -> Int64, stop: (Place) -> Int64
    ) throws(Problem) -> Response {
        guard let stopped = scanned.stoppedAt.map(stop) else {
            return page(limit, of: scanned.items, item: item, position: position)
        }
        guard !scanned.items.isEmpty else { throw tooWide(stopped) }
        return page(scanned.items.map(item), next: stopped, hasMore: true)
    }

    func tooWide(_ position: Int64) -> Problem {
        let cursor = LogCursor(epoch: epochs.head.epoch, position: position).description
        var problem = Problem(
            .tooWide,
            "Nothing was found up to \(cursor). Go on with after=\(cursor), or ask for less.")
        problem.members["scanned_to"] = .integer(position)
        problem.members["cursor"] = .string(cursor)
        return problem
    }
}
