import Testing

@testable import API

/// Who fills a limit, and who is hurt: the table of docs/threat-model.md, row by row.
@Suite struct `A limit that strangers fill` {
    @Test func `docs/threat-model.md has a row for each limit that is filled, and no other`() throws
    {
        let rows = try DocumentTable.rows(of: "threat-model.md", under: "budget")
        #expect(rows.map { $0[0] } == Budget.allCases.map(\.rawValue))
        #expect(rows.allSatisfy { $0.count == 3 })
    }

    @Test func `a limit of another module is filled by tests that there are`() {
        for name in Budget.allCases.flatMap(\.testsElsewhere) {
            #expect(DocumentTable.testNames.contains(name), "\(name)")
        }
    }

    @Test(arguments: Budget.allCases.filter(\.testsElsewhere.isEmpty))
    func `a limit that strangers fill hurts whom its row names, and nobody else`(budget: Budget)
        async throws
    {
        switch budget {
        case .holder: try await TokenBudgets.holder()
        case .client: try await TokenBudgets.client()
        case .failures: try await TokenBudgets.failures()
        case .clientSecrets: try await TokenBudgets.clientSecrets()
        case .beginnings: try await TokenBudgets.beginnings()
        case .accounts: try await TokenBudgets.accounts()
        case .mails: try await GuessBudgets.mails()
        case .wrongCodes: try await GuessBudgets.codes()
        case .wrongPassphrases: try await GuessBudgets.passphrases()
        case .joins: try await AppBudgets.joins()
        case .phones: try await AppBudgets.phones()
        case .registrations: try await AppBudgets.registrations()
        case .sealed: try await AppBudgets.sealed()
        case .owners: try await OwnerBudgets.signIns()
        case .ownersMails: try await OwnerBudgets.mails()
        case .networks: try await OwnerBudgets.networks()
        case .notifications: try await OwnerBudgets.notifications()
        case .wrongPINs, .devices, .passphraseWork, .bodies, .connections, .appends, .memory:
            Issue.record("Tests elsewhere fill it.")
        }
    }

    /// So many networks, each as fast as it may, have used up within so many hours what an app has.
    private func networks(
        filling policy: RatePolicy, by own: RateDimension = .source, within hours: Double
    ) throws -> Int {
        func given(_ dimension: RateDimension) throws -> Double {
            let rate = try #require(RateTable.standard[policy, dimension])
            return Double(rate.burst) + hours * 3600e9 / Double(rate.interval)
        }
        return Int((try given(.app) / (try given(own))).rounded(.up))
    }

    @Test func `a limit of an app is filled by as many networks as its row says`() throws {
        #expect(try networks(filling: .nativeOTP, by: .signUps, within: 0) == 300)
        #expect(try networks(filling: .nativeOTP, by: .signUps, within: 1000) == 300)
        #expect(try networks(filling: .phoneCode, within: 0) == 100)
        #expect(try networks(filling: .phoneCode, within: 12) == 9)
        #expect(try networks(filling: .clientRegistration, within: 0) == 30)
        #expect(try networks(filling: .clientRegistration, within: 7) == 11)
        #expect(try networks(filling: .clientRegistration, within: 1000) == 11)
    }
}
