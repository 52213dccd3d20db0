internal import EventSourcing
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

extension Call<AdminContext> {
    /// Makes a subscription in a place that is free: of requests at once that choose the same place, one has to choose
    /// again.
    func create<C: SubscriptionCreation>(
        _ command: C, as write: Write, whenFull full: Problem
    ) async throws(Problem) -> WriteReceipt {
        let known = try await context.ask(
            SubscriptionView.page(of: C.kind), (nil, C.kind.limit), in: write.realm
        ).items
        for slot in Self.freeSlots(of: C.kind, beside: known, for: command.id) {
            var command = command
            command.slot = slot
            let result = try await context.commands.attempt(
                command, in: write.realm, named: .path, id: write.command, digest: write.digest,
                by: write.origin)
            switch result {
            case .success(let dispatched):
                return WriteReceipt(write: write, positions: dispatched.positions)
            case .failure(.slotTaken): continue
            case .failure(.idTaken): throw Problem(.internalError)
            case .failure(.invalid(let fault)): throw Problem(of: fault)
            }
        }
        throw full
    }

    /// Those that no subscription is known to have, each request's own first. Subscriptions from before places were numbered take
    /// the last ones. Behind them stands a place that there is not, by which a repeat of a command finds out what came
    /// of it.
    private static func freeSlots(
        of kind: Subscription.Kind, beside known: [SubscriptionView], for id: UUID
    ) -> [Int] {
        let taken = Set(known.compactMap(\.slot))
        let unnumbered = known.count { $0.slot == nil }
        let free = (0..<max(0, kind.limit - unnumbered)).filter { !taken.contains($0) }
        let start = free.isEmpty ? 0 : Int(id.low % UInt64(free.count))
        return free[start...] + free[..<start] + [kind.limit]
    }
}
