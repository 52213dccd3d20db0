/// The OpenID Shared Signals Framework 1.0, as a transmitter: clients of the realm have themselves told of
/// what becomes of sessions, credentials and accounts.
struct SignalsSurface: RealmSurface {
    let routes: [Route<RealmContext>]

    /// - Parameter pages: what this node has read of the log for all streams.
    init(_ pages: SignalPages?) {
        routes =
            SignalMetadataRoutes.table + SignalStreamRoutes.table(pages) + SignalStatusRoutes.table
            + SignalSubjectRoutes.table(pages) + SignalVerificationRoutes.table(pages)
            + SignalPollRoutes.table(pages) + SignalReplayRoutes.table
    }
}
