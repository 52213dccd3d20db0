import API
import EventSourcing
import EventStore
import Identity
import ReadModels
import Values

extension AdminContext {
    init(
        store: Store, queries: any QuestionPort, upstream: Upstream = Upstream(),
        sender: WebhookSender? = nil, mayBeLoopback: Bool = false, operator: String? = nil,
        now: (@Sendable () -> Timestamp)? = nil
    ) {
        let start = ContinuousClock.now
        self.init(
            commands: store.dispatcher, queries: queries, proofs: LogProofAnswers(store),
            feeds: store.feeds, now: now ?? store.clock.now,
            passed: { ContinuousClock.now - start },
            standing: { realm, subject throws(LogFailure) in
                try await store.keyring.standing(of: subject, in: realm)
            },
            destroyKey: { realm, subject throws(LogFailure) in
                try await store.keyring.destroyKey(of: subject, in: realm)
            }, makeSigningKey: newSigningKey, mint: store.mint, upstream: upstream,
            deliveries: WebhookDesk(
                store: DeliveryStore(store.database), sender: sender,
                mayBeLoopback: mayBeLoopback),
            feedCursors: FeedCursorStore(store.database), cases: CaseFileAnswers(store),
            whatIfs: WhatIfAnswers(store),
            asOfBuilds: AsOfBuildStore(store.database, hub: store.log.hub),
            operator: `operator`)
    }
}
