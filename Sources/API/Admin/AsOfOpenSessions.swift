internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import Values

extension Call<AdminContext> {
    /// Of an account's sessions those that were good: their time was not over, their stamp was the account's, access was
    /// not removed from their client, device or browser, their client was not deleted, and what they were exchanged for or
    /// opened by was good as well.
    func openSessions(_ state: JSON?, at moment: AsOfMoment) async throws(Problem) -> JSON {
        let account = state?["account"]
        guard account?["enabled"] == true, account?["deleted"] == false,
            account?["deletion_due"] == nil, let at = moment.at
        else { return [] }
        var open = (state?["sessions"]?.object ?? [:]).filter { _, session in
            let end = session["expires_at"]?.string.flatMap { Timestamp(rfc3339: $0) }
            let shown = (session["amr"]?.array ?? []).compactMap {
                $0.string.flatMap(AuthenticationFactor.init)
            }
            return session["stamp"] == account?["stamp"] && end.map { $0 > at } == true
                && (session["moves"] == account?["moves"] || !shown.restOnMailbox)
                && places(of: session).allSatisfy { place in
                    let removed = account?["access_removed"]?[place]?.integer
                    return removed ?? 0 <= session["removals"]?.integer ?? 0
                }
        }
        let gone = try await clientsDeleted(
            Set(
                open.flatMap { [$0.value["client"], $0.value["opener_client"]] }
                    .compactMap { $0?.string }), by: moment)
        open = open.filter { _, session in
            !["client", "opener_client"].contains {
                session[$0]?.string.map(gone.contains) == true
            }
        }
        // One that was exchanged may be the origin of others.
        var known = -1
        while known != open.count {
            known = open.count
            let there = Set(open.map(\.key))
            open = open.filter { _, session in
                ["exchanged", "opener_session", "opener_browser"].allSatisfy {
                    session[$0]?.string.map(there.contains) != false
                }
            }
        }
        return .array(open.map { .string($0.key) })
    }

    /// From where access may be removed (`AccessPlace.name`).
    private func places(of session: JSON) -> [String] {
        let browser = session["browser"]?.string
        return ["client", "federated_device", "opener_client"].compactMap { session[$0]?.string }
            + [session["offline"] == true ? browser.map { "offline \($0)" } : browser]
            .compactMap { $0 }
    }

    private func clientsDeleted(
        _ clients: Set<String>, by moment: AsOfMoment
    ) async throws(Problem) -> Set<String> {
        let realm = try realm
        var gone: Set<String> = []
        for client in clients {
            guard let stream = UUID(client) else { continue }
            let events = try await reading { () throws(LogFailure) in
                try await context.commands.events.stream(stream, after: 0, in: realm)
            }
            let isDeleted = events.contains {
                $0.name == ClientEvent.Form.deleted.name && $0.position <= moment.position
            }
            if isDeleted { gone.insert(client) }
        }
        return gone
    }
}
