import EventSourcing
import Postgres
public import Values

/// Makes a build that a maker has for itself: two read models at a time, page by page.
public struct AsOfBuildRun: Sendable {
    private let store: AsOfBuildStore
    private let maker: UUID

    public init(_ store: AsOfBuildStore, maker: UUID) {
        self.store = store
        self.maker = maker
    }

    /// The lease is another's, or the build is not wanted any more.
    private struct Lost: Error {}

    private struct Faulty: Error { let fault: AsOfBuild.Fault }

    private struct Step: Sendable {
        let isDone: Bool
        let hasHole: Bool
    }

    /// The projections by duration, the longest first: with two at a time they end together.
    private static let projections = [
        "login_history", "daily_counts", "credentials", "sessions", "accounts", "passkeys",
        "clients",
        "findings",
    ]

    /// A failure that may pass leaves the build as it is: the node that claims it next goes on.
    /// - Parameter told: hears after each page that there is more.
    public func make(
        _ build: AsOfBuild, told: @escaping @Sendable () async -> Void = {}
    ) async throws {
        do {
            try await run(build, told)
        } catch let faulty as Faulty {
            try await store.fail(build, by: maker, faulty.fault)
        } catch let failure as Postgres.Failure where failure.isPoison {
            try await store.fail(build, by: maker, .notApplicable)
        } catch is Lost {
            return
        }
    }

    private func run(
        _ build: AsOfBuild, _ told: @escaping @Sendable () async -> Void
    ) async throws {
        guard try await ask(opening, build) else { throw Lost() }
        if try await store.hole(upTo: build.position, in: build.realm) != nil {
            throw Faulty(fault: .logDamaged)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                while true {
                    try await Task.sleep(for: .seconds(3))
                    guard try await store.keep(build, by: maker) else { throw Lost() }
                }
            }
            group.addTask { try await fill(build, told) }
            // The lease alone never ends by itself but by a failure.
            try await group.next()
            group.cancelAll()
        }
        guard try await ask(showing, build) else { throw Lost() }
    }

    private func fill(
        _ build: AsOfBuild, _ told: @escaping @Sendable () async -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, projection) in Self.projections.enumerated() {
                if number > 1 { try await group.next() }
                group.addTask { try await fill(projection, of: build, told) }
            }
            try await group.waitForAll()
        }
    }

    private func fill(
        _ projection: String, of build: AsOfBuild, _ told: @Sendable () async -> Void
    ) async throws {
        while true {
            try Task.checkCancellation()
            let step = try await step(projection, of: build)
            if step.hasHole { throw Faulty(fault: .logDamaged) }
            if step.isDone { return }
            await told()
        }
    }

    private func step(_ projection: String, of build: AsOfBuild) async throws -> Step {
        try await store.database.run { [maker] connection throws(Postgres.Failure) -> Step? in
            var parameters = Parameters(in: build.realm, build.id)
            parameters.add(maker)
            parameters.add(projection)
            let rows = try connection.execute(stepping, parameters)
            guard !rows.isEmpty else { return nil }
            return Step(isDone: rows.bool(0, 0), hasHole: !rows.isNull(0, 1))
        }.orThrow(Lost())
    }

    private func ask(_ statement: Statement, _ build: AsOfBuild) async throws -> Bool {
        try await store.database.run { [maker] connection throws(Postgres.Failure) in
            var parameters = Parameters(in: build.realm, build.id)
            parameters.add(maker)
            return try connection.execute(statement, parameters).bool(0, 0)
        }
    }
}

extension Optional {
    fileprivate func orThrow(_ error: any Error) throws -> Wrapped {
        guard let self else { throw error }
        return self
    }
}

private let opening = Statement("as_of_open", "select urd.open_as_of($1, $2, $3)")
private let stepping = Statement(
    "as_of_step", "select o_done, o_problem from urd.step_as_of($1, $2, $3, $4)")
private let showing = Statement("as_of_show", "select urd.show_as_of($1, $2, $3)")
