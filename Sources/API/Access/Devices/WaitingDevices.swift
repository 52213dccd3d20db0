internal import EventSourcing
internal import HTTP
internal import Identity
internal import ReadModels
internal import Values

/// A device that waits, as a page shows it.
struct WaitingDevice: Sendable {
    /// Where people type the code.
    static let page = "/device"

    let terms: DeviceTerms
    let client: ClientMetadata?
}

/// The devices that wait for a user's decision (RFC 8628).
struct WaitingDevices {
    private let call: Call<RealmContext>

    init(_ call: Call<RealmContext>) { self.call = call }

    private var context: RealmContext { call.context }

    /// Makes codes up until one is new: that the first one isn't is as good as never.
    func request(_ request: GrantRequest) async throws(Problem) -> (UserCode, DeviceTerms) {
        for _ in 0..<4 {
            let code = UserCode.random()
            let asked = try await Commands(call).attempt(
                RequestDevice(device: context.mint.device(code), request),
                as: .client(request.clientID))
            switch asked {
            case .success(let terms): return (code, terms)
            case .failure(.codeTaken): continue
            case .failure(let refusal): throw refusal.problem
            }
        }
        throw Problem(.busy)
    }

    /// The device that shows a code. Guesses are counted by whom and from where they come.
    func find(
        _ typed: String, for account: UUID
    ) async throws(Problem) -> WaitingDevice {
        let id = try deviceID(typed, guessedBy: account)
        let device = try await RealmLookups(context).folded(Device.self, id)
        guard let terms = device.openTerms(at: context.clock.now()) else {
            throw Problem(.noSuchDevice)
        }
        let client = try await reading { () throws(LogFailure) in
            try await context.clients.recent(terms.clientID, in: context.place.realm)
        }
        return WaitingDevice(terms: terms, client: client?.metadata)
    }

    /// Decides for the signed-in user, with the factors that they signed in with.
    func decide(
        _ typed: String, isApproved: Bool, by account: UUID, factors: [AuthenticationFactor],
        signedInAt: Timestamp, in place: ApprovalPlace
    ) async throws(Problem) {
        let id = try deviceID(typed, guessedBy: account)
        let now = context.clock.now()
        if isApproved {
            var command = ApproveDevice(
                device: id, account: account, factors: factors, signedInAt: signedInAt, now: now)
            command.place = place
            try await decide(command, account)
        } else {
            try await decide(DenyDevice(device: id, account: account, now: now), account)
        }
    }

    private func deviceID(_ typed: String, guessedBy account: UUID) throws(Problem) -> UUID {
        try RateCounter(call).count(.deviceCode, target: account.description)
        guard let code = UserCode(typed: typed) else { throw Problem(.noSuchDevice) }
        return context.mint.device(code)
    }

    private func decide<C: Command>(
        _ command: C, _ account: UUID
    ) async throws(Problem) where C.Rejection: Refusal {
        try await Commands(call).dispatch(command, as: .user(account))
    }
}

extension ApproveDevice.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .notFound: Problem(.noSuchDevice)
        case .accountBlocked: Problem(.invalidToken)
        }
    }
}

extension DenyDevice.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .notFound: Problem(.noSuchDevice)
        case .accountBlocked: Problem(.invalidToken)
        }
    }
}
