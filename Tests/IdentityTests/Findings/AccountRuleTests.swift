import EventSourcing
import Identity
import Testing
import Values

@Suite struct `Rules about what people and administrators do` {
    private let day: Int64 = 86_400

    // MARK: - Second factor

    @Test
    func
        `a person who is asked five times in ten minutes is found, and is worse once they give in`()
        throws
    {
        var story = FindingStory()
        for index in 0..<4 {
            story.fail(1, from: "a", at: Int64(index) * 150, because: "second_factor_required")
        }
        #expect(story.found(.secondFactorFatigue).isEmpty)
        story.fail(1, from: "a", at: 600, because: "second_factor_required")
        let finding = try #require(story.found(.secondFactorFatigue).first)
        #expect(finding.positions == Array(1...5))
        #expect(finding.level == .medium)
        #expect(story.risen.isEmpty)
        story.signIn(1, at: 700, by: [.passphrase, .mailedCode, .multiple])
        #expect(story.risen.map(\.id) == [finding.id])
        #expect(story.risen.map(\.level) == [.high])
    }

    @Test func `a person who is asked in a longer time, or succeeds in between, is not found`() {
        var slow = FindingStory()
        for index in 0..<5 {
            slow.fail(
                1, from: "a", at: Int64(index) * 150 + (index == 4 ? 1 : 0),
                because: "second_factor_required")
        }
        #expect(slow.found(.secondFactorFatigue).isEmpty)

        var story = FindingStory()
        for index in 0..<9 {
            story.fail(1, from: "a", at: Int64(index) * 10, because: "second_factor_required")
            if index == 4 - 1 || index == 7 {
                story.signIn(1, at: Int64(index) * 10 + 1, by: [.passphrase, .multiple])
            }
        }
        #expect(story.found(.secondFactorFatigue).isEmpty)
        #expect(story.risen.isEmpty)
    }

    @Test func `what one command asks for twice is asked for once`() {
        var story = FindingStory()
        for index in 0..<4 {
            let command = story.newID()
            for _ in 0..<2 {
                story.fail(
                    1, from: "a", at: Int64(index), because: "second_factor_required",
                    command: command)
            }
        }
        #expect(story.found(.secondFactorFatigue).isEmpty)
    }

    private func removal(of account: Int) -> (FindingStory, UUID) {
        var story = FindingStory()
        let id = FindingStory.account(account)
        story.add(
            TwoFactorEvent.removed(account: id, mail: client), in: TwoFactor.stream(of: id), at: 0)
        return (story, id)
    }

    @Test
    func `a second factor that was removed is found once twelve hours are over without another`()
        throws
    {
        var (story, account) = removal(of: 1)
        story.signIn(2, at: 43_200)
        #expect(story.found(.secondFactorRemoved).isEmpty)
        #expect(story.engine.due(at: Timestamp(seconds: FindingStory.start + 43_200)).isEmpty)
        // Without any event it is due all the same, under the name that it has later.
        let due = story.engine.due(at: Timestamp(seconds: FindingStory.start + 43_201))
        story.signIn(2, at: 43_201)
        let finding = try #require(story.found(.secondFactorRemoved).first)
        #expect(finding.about == .account(account))
        #expect(finding.positions == [1])
        #expect(due == [finding])
        #expect(story.engine.due(at: Timestamp(seconds: FindingStory.start + 50_000)).isEmpty)
    }

    @Test
    func `a second factor in whose place another came, or whose account is gone, is not found`()
        throws
    {
        var (story, account) = removal(of: 1)
        story.add(
            TwoFactorEvent.confirmed(
                ConfirmedTOTP(
                    account: account, step: 1, at: Timestamp(seconds: FindingStory.start),
                    recoveryCodes: [try digest(1)], mail: client)),
            in: TwoFactor.stream(of: account), at: 43_100)
        story.signIn(2, at: 50_000)
        #expect(story.found(.secondFactorRemoved).isEmpty)

        var (gone, deleted) = removal(of: 1)
        gone.add(AccountEvent.deleted(subjects: []), in: deleted, at: 100)
        gone.signIn(2, at: 50_000)
        #expect(gone.found(.secondFactorRemoved).isEmpty)
    }

    // MARK: - Sessions

    @Test
    func `each token or code that comes again is found, and an end for another reason is not`() {
        var story = FindingStory()
        let sessions = (0..<4).map { _ in story.newID() }
        story.add(SessionEvent.ended(.reuse), in: sessions[0], at: 0)
        story.add(SessionEvent.ended(.codeReuse), in: sessions[1], at: 1)
        story.add(SessionEvent.ended(.loggedOut), in: sessions[2], at: 2)
        story.add(SessionEvent.ended(.revoked), in: sessions[3], at: 3)
        #expect(
            story.found(.tokenReuse).map(\.about) == [.session(sessions[0]), .session(sessions[1])])
        #expect(story.found(.tokenReuse).map(\.level) == [.high, .high])
    }

    @Test func `three sign-ins within half an hour that last are found, and two are not`() throws {
        var story = FindingStory()
        story.signIn(1, at: 0)
        story.signIn(1, at: 900)
        #expect(story.found(.manySessions).isEmpty)
        story.signIn(1, at: 1800)
        #expect(try #require(story.found(.manySessions).first).positions == [1, 2, 3])
    }

    @Test func `sign-ins in a longer time, or of which one ended, are not found`() {
        var slow = FindingStory()
        for at in [0, 900, 1801] { slow.signIn(1, at: Int64(at)) }
        #expect(slow.found(.manySessions).isEmpty)

        var story = FindingStory()
        let first = story.signIn(1, at: 0)
        story.signIn(1, at: 10)
        story.add(BrowserSessionEvent.ended(.signedOut), in: first, at: 20)
        story.signIn(1, at: 30)
        #expect(story.found(.manySessions).isEmpty)
    }

    // MARK: - What is usual for an account

    /// Sign-ins on one device from one network, and then another one.
    private func familiar(
        _ count: Int, then device: String, _ source: String, after seconds: Int64 = 3600
    ) -> FindingStory {
        var story = FindingStory()
        for index in 0..<count { story.signIn(1, at: Int64(index) * 3600) }
        story.signIn(1, from: source, on: device, at: Int64(count - 1) * 3600 + seconds)
        return story
    }

    @Test
    func `a device or a network that is new after five sign-ins is found, and a known one is not`()
    {
        let device = familiar(5, then: "iPhone", "home")
        #expect(device.found(.newDevice).map(\.positions) == [[6]])
        #expect(device.found(.newSource).isEmpty)
        let source = familiar(5, then: "Linux", "away")
        #expect(source.found(.newSource).map(\.positions) == [[6]])
        #expect(source.found(.newDevice).isEmpty)
        #expect(familiar(4, then: "iPhone", "away").found.isEmpty)
        #expect(familiar(5, then: "Linux", "home").found.isEmpty)
    }

    @Test func `a device that was last used more than 90 days ago is new again`() {
        func story(days: Int64) -> FindingStory {
            var story = FindingStory()
            story.signIn(1, on: "iPhone", at: 0)
            for index in 1...5 { story.signIn(1, at: Int64(index) * day * 15) }
            story.signIn(1, on: "iPhone", at: days * day)
            return story
        }
        #expect(story(days: 90).found(.newDevice).count == 0)
        // The first sign-in with Linux was no news, for there were no five before it.
        #expect(story(days: 91).found(.newDevice).count == 1)
    }

    @Test func `an account that was unused for 90 days is found at its next sign-in`() throws {
        var story = FindingStory()
        story.signIn(1, at: 0)
        story.signIn(1, at: 90 * day)
        #expect(try #require(story.found(.dormantAccount).first).positions == [1, 2])
        var early = FindingStory()
        early.signIn(1, at: 0)
        early.signIn(1, at: 90 * day - 1)
        #expect(early.found(.dormantAccount).isEmpty)
    }

    @Test func `an account that was registered long ago and never used is dormant too`() {
        var story = FindingStory()
        story.register(1, at: 0)
        story.register(2, at: 10 * day)
        story.signIn(1, at: 90 * day)
        story.signIn(2, at: 90 * day)
        #expect(
            story.found(.dormantAccount).map(\.about) == [.account(FindingStory.account(1))])
    }

    // MARK: - Administration

    private let key = "admin:0193a0e7-5e0c-8000-9000-2f6b1c1d9a12"

    @Test func `a key that is used at an hour at which it never is is found`() throws {
        var story = FindingStory()
        for index in 0..<20 { story.administer(by: key, at: Int64(index) * day) }
        story.administer(by: key, at: 20 * day + 2 * 3600)
        let finding = try #require(story.found(.unusualHour).first)
        #expect(finding.about == .actor(key))
        #expect(finding.positions == [21])
    }

    @Test func `the hours beside a usual one, a key with few acts, and people are not found`() {
        func story(_ acts: Int, then seconds: Int64, by actor: String) -> FindingStory {
            var story = FindingStory()
            for index in 0..<acts { story.administer(by: actor, at: Int64(index) * day) }
            story.administer(by: actor, at: Int64(acts) * day + seconds)
            return story
        }
        #expect(story(20, then: 3600, by: key).found.isEmpty)
        #expect(story(20, then: -3600, by: key).found.isEmpty)
        #expect(story(19, then: 7200, by: key).found.isEmpty)
        #expect(story(20, then: 7200, by: "user:\(client)").found.isEmpty)
    }

    @Test func `a key that opens more than three times as much as on any day is found`() throws {
        var story = FindingStory()
        story.disclose(10, by: key, at: 0)
        story.disclose(30, by: key, at: day)
        #expect(story.found(.massDisclosure).isEmpty)
        // One of them once more is none more.
        story.disclose(1, from: 29, by: key, at: day + 30)
        #expect(story.found(.massDisclosure).isEmpty)
        story.disclose(1, from: 30, by: key, at: day + 60)
        let finding = try #require(story.found(.massDisclosure).first)
        #expect(finding.positions == [2, 3, 4])
        #expect(finding.counts == [.accounts: 31])
        #expect(finding.level == .high)
    }

    @Test func `a key that never opened anything may open twenty-four in a day`() {
        var story = FindingStory()
        story.disclose(24, by: key, at: 0)
        #expect(story.found(.massDisclosure).isEmpty)
        story.disclose(1, by: "operator:root", at: 1)
        #expect(story.found(.massDisclosure).isEmpty)
        for time in 2...60 { story.disclose(24, by: key, at: Int64(time)) }
        #expect(story.found(.massDisclosure).isEmpty, "they are the same")
        story.disclose(1, from: 24, by: key, at: 61)
        #expect(story.found(.massDisclosure).count == 1)
    }
}
