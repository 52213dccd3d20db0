public import EventSourcing
public import ReadModels

/// What finding a request's realm asks for. Answers are as fresh as the log itself.
public protocol HostQueries: WebAppQueries {
    /// The realm that a host leads to, by the name that it was assigned under.
    func realm(ofHost host: String) async throws(LogFailure) -> RealmID?

    func realm(_ realm: RealmID) async throws(LogFailure) -> RealmView?

    func app(slug: String, in realm: RealmID) async throws(LogFailure) -> AppView?

    /// A number that is another one as soon as this process can know that something of a realm
    /// changed which these queries answer from: hosts in the system realm, settings and apps
    /// elsewhere. Asked for with every request, so that it must not wait for anything.
    func revision(of realm: RealmID) -> Int64
}
