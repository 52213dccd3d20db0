import API
import EventSourcing
import EventStore
import ReadModels
import Values

/// Policies that are to be tried.
enum WhatIfService {
    static func rounds(_ store: Store) -> JobRounds<WhatIfKind> {
        JobRounds(store) { job, maker, told in
            try await WhatIfRun(WhatIfAnswers(store), maker: maker).make(job, told: told)
        }
    }
}

/// What-ifs over the database: their rows, and the log.
struct WhatIfAnswers: WhatIfs, StoredJobs {
    let rows: WhatIfStore
    private let log: PostgresLog

    init(_ store: Store) {
        rows = WhatIfStore(store.database, hub: store.log.hub)
        log = store.log
    }

    func result(of id: UUID, in realm: RealmID) async throws(LogFailure) -> [UInt8]? {
        try await rows.result(of: id, in: realm)
    }

    func scan(
        after position: Int64, through end: Int64, types: [String], in realm: RealmID
    ) async throws(LogFailure) -> [ScannedEvent] {
        try await log.scan(after: position, through: end, types: types, in: realm)
    }

    func epochs(of realm: RealmID) async throws(LogFailure) -> EpochHistory {
        try await log.epochs(of: realm)
    }
}
