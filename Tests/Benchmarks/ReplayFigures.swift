import EventStore
import Postgres
import PostgresTesting
import ReadModels
import Synchronization
import Threads

/// What goes through a whole log again.
enum ReplayFigures {
    static func rebuild(_ workshop: Workshop) async throws -> [Figure] {
        let size = workshop.size(short: 150_000, full: 1_000_000)
        let store = try await workshop.bed.makeStore(events: size, workshop.progress)
        defer { store.close() }
        let count = workshop.size(short: 3, full: 5)
        workshop.progress.begin("rebuild", rounds: count)
        let whole = Mutex<[Double]>([])
        let rounds = try await Rounds.run(count, workshop.progress) {
            let (built, all) = try await DedicatedThread.run { try rebuild(store) }
            whole.withLock { $0.append(Double(size) / all) }
            return Double(size) / built
        } limit: {
            try await DedicatedThread.run {
                let scan =
                    "select count(data ->> 'client_id') from urd.event where realm = 'bench'"
                return try Double(size)
                    / seconds {
                        let connection = try Connection(store.database.owner)
                        try connection.run("set max_parallel_workers_per_gather = 0; \(scan)")
                    }
            }
        }
        return [
            Figure(
                "rebuild", "clients built anew from \(spoken(Double(size))) events",
                rounds.medians.value, "events/s",
                limit: .init(
                    name: "one scan that reads a field of each", value: rounds.medians.limit),
                bar: .atLeast(300_000),
                note: "With the comparison to the live one and the switch: "
                    + "\(spoken(whole.withLock { $0 }.median)) events/s.")
        ]
    }

    /// Seconds until it was built, and until it was live.
    private static func rebuild(_ store: Store) throws -> (Double, Double) {
        let started = ContinuousClock.now
        let built = Mutex<ContinuousClock.Instant?>(nil)
        let comparison = try ProjectionEngine(store.database.owner).rebuild("clients") { step in
            if case .comparing = step { built.withLock { $0 = $0 ?? .now } }
        }
        let ended = ContinuousClock.now
        guard case .equal = comparison else {
            throw BenchmarkFailure("The rebuilt read model is not the live one: \(comparison)")
        }
        let moment = built.withLock { $0 } ?? ended
        return ((moment - started) / .seconds(1), (ended - started) / .seconds(1))
    }

    static func verify(_ workshop: Workshop) async throws -> [Figure] {
        let size = workshop.size(short: 150_000, full: 2_000_000)
        let store = try await workshop.bed.makeStore(events: size, workshop.progress)
        defer { store.close() }
        workshop.progress.show("sealing")
        let sealer = Sealer(store.pool, keyring: store.keyring, settings: .init(directory: nil))
        while try await sealer.sealOnce() {}
        let count = 5
        workshop.progress.begin("verify", rounds: count)
        let verifier = LogVerifier(store.pool, keyring: store.keyring, directory: nil)
        let rounds = try await Rounds.run(count, workshop.progress) {
            let started = ContinuousClock.now
            let verification = try await verifier.verify(store.realm)
            guard verification.isIntact, verification.last == size, verification.sealed == size
            else { throw BenchmarkFailure("The log did not verify: \(verification)") }
            return Double(size) / ((ContinuousClock.now - started) / .seconds(1))
        } limit: {
            try await DedicatedThread.run {
                try Double(size)
                    / seconds {
                        try Connection(store.database.application).copyOut(
                            """
                            copy (select position, at, command, data, meta, revision, sealed, stream,
                                subject, type, version, leaf, mac from urd.event
                                where realm = 'bench' order by position) to stdout (format binary)
                            """
                        ) { _ in }
                    }
            }
        }
        return [
            Figure(
                "verify", "\(spoken(Double(size))) events, their tiles and signatures",
                rounds.medians.value, "events/s",
                limit: .init(name: "COPY of the same rows to nowhere", value: rounds.medians.limit),
                bar: .atLeast(200_000))
        ]
    }
}

func seconds(_ work: () throws -> Void) throws -> Double {
    let started = ContinuousClock.now
    try work()
    return (ContinuousClock.now - started) / .seconds(1)
}

/// For work that blocks.
