/// The OpenID Shared Signals Framework 1.0, as a transmitter: clients of the realm have themselves told of
/// what becomes of sessions, credentials and accounts.
struct SignalsSurface: RealmSurface {
    let routes =
        SignalMetadataRoutes.table + SignalStreamRoutes.table + SignalStatusRoutes.table
        + SignalSubjectRoutes.table + SignalVerificationRoutes.table + SignalPollRoutes.table
        + SignalReplayRoutes.table
}
