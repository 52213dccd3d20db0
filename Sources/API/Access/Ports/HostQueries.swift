public import EventSourcing
public import ReadModels

/// What finding a request's realm asks for.
public protocol HostQueries: QuestionPort {
    /// A number that is another one as soon as this process can know that something of a realm
    /// changed which the answers are made of: hosts in the system realm, settings and apps
    /// elsewhere. Asked for with every request, so that it must not wait for anything.
    func revision(of realm: RealmID) -> Int64
}
