public import EventSourcing
internal import Identity
public import ReadModels
public import Values

/// Carries out the deletion of an account whose time has come. It is idempotent: it may break off
/// anywhere and be resumed by any process, concurrently too. First the account is gone for good,
/// then its passkeys are given up and its keys are destroyed, and last the log says so.
public struct AccountErasure: Sendable {
    public enum Outcome: Sendable, Equatable {
        /// All is done; the log says so at this position.
        case erased(Int64, isNew: Bool)
        /// The deletion was cancelled, or is not due yet.
        case notDue
        /// The account never existed.
        case unknown
    }

    private let commands: any CommandPort
    private let queries: any QuestionPort
    private let destroyKey: @Sendable (RealmID, UUID) async throws(LogFailure) -> Void
    private let newID: @Sendable () -> UUID

    public init(
        commands: any CommandPort, queries: any QuestionPort,
        destroyKey: @escaping @Sendable (RealmID, UUID) async throws(LogFailure) -> Void,
        newID: @escaping @Sendable () -> UUID
    ) {
        self.commands = commands
        self.queries = queries
        self.destroyKey = destroyKey
        self.newID = newID
    }

    public func dispatch(
        _ account: UUID, in realm: RealmID, by origin: Origin
    ) async throws(LogFailure) -> Outcome {
        var (state, _) = try await fold(account, realm)
        guard let known = state else { return .unknown }
        if !known.isDeleted {
            let isDue = try await dispatch(
                DeleteAccount(
                    account: account, next: NextSubjects(mailbox: newID(), phone: newID()),
                    now: origin.at), realm, origin)
            (state, _) = try await fold(account, realm)
            // Another may have been faster; what counts is what the log says now.
            guard isDue || state?.isDeleted == true else { return .notDue }
        }
        let isNew = state?.isErased == false
        if let state, isNew {
            // No passkey is enrolled for an account that is gone: there will be no more.
            for passkey in try await queries.ask(PasskeyView.ofAccount, account, in: realm) {
                _ = try await dispatch(
                    ReleasePasskey(passkey: passkey.id, account: account), realm, origin)
            }
            for subject in [account] + state.subjects { try await destroyKey(realm, subject) }
            _ = try await dispatch(AccountChange.recordErasure(account), realm, origin)
        }
        guard let position = try await fold(account, realm).erasedAt else { throw .contended }
        return .erased(position, isNew: isNew)
    }

    /// Whether the domain had nothing against it.
    private func dispatch<C: Command>(
        _ command: C, _ realm: RealmID, _ origin: Origin
    ) async throws(LogFailure) -> Bool {
        do {
            _ = try await commands.dispatch(
                command, in: realm, id: newID(), digest: [], origin: origin)
            return true
        } catch is C.Rejection, is RealmRejection {
            return false
        } catch let failure as LogFailure {
            throw failure
        } catch {
            throw .unavailable
        }
    }

    private func fold(
        _ account: UUID, _ realm: RealmID
    ) async throws(LogFailure) -> (state: Account?, erasedAt: Int64?) {
        let events = try await commands.events.stream(account, after: 0, in: realm)
        var state = Account()
        var erasedAt: Int64?
        for recorded in events {
            guard let event = AccountEvent(recorded) else { throw .damaged }
            state.apply(event)
            if event == .erased { erasedAt = recorded.position }
        }
        return (events.isEmpty ? nil : state, erasedAt)
    }
}
