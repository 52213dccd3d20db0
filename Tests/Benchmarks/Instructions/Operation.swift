/// One kind of thing that clients ask of a server again and again, so that it can be counted.
struct Operation: Sendable {
    /// Does so many things and says how many they were.
    typealias Going = () async throws -> Int
    /// What can be made before anything is counted, for so many things of each session.
    typealias Ready = (_ times: Int) async throws -> Going

    let name: String
    let summary: String
    /// How often each session does it while instructions are counted; a processor that is counted is
    /// some thirty times as slow.
    let times: Int
    /// The people and clients that it takes, in a server that is running.
    let prepare: @Sendable (DevelopmentServer) async throws -> Ready

    /// As many as fit one batch, and few enough that batches are alike in each run.
    static let sessions = 8

    /// Each session with a connection of its own.
    /// - Parameter work: makes a session, which does the thing once each time it is called.
    static func crowd(
        _ work: @escaping @Sendable (Int) throws -> ((Int) throws -> Void)
    ) -> Ready {
        { times in
            {
                try await Crowd(callers: sessions).run(times: times, work).latencies.count
            }
        }
    }

    /// The same request again and again.
    static func repeating(_ request: [UInt8], _ server: DevelopmentServer) -> Ready {
        crowd { _ in
            let line = try Line(port: server.port)
            return { _ in
                let answer = try line.send(request)
                guard answer.status == 200 else { throw answer.failure }
            }
        }
    }
}
