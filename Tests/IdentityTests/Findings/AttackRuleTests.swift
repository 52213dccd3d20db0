import Identity
import Testing
import Values

@Suite struct `Rules about guessing` {
    // MARK: - Brute force

    /// Failures spread over time, from networks in turn.
    private func bruteForce(
        failures: Int, sources: Int, within seconds: Int64 = 1800
    ) -> FindingStory {
        var story = FindingStory()
        for index in 0..<failures {
            let at = seconds * Int64(index) / Int64(max(1, failures - 1))
            story.fail(1, from: "source\(index % sources)", at: at)
        }
        return story
    }

    @Test func `ten failures on one account from five networks within half an hour are found`()
        throws
    {
        let story = bruteForce(failures: 10, sources: 5)
        let finding = try #require(story.found(.bruteForce).first)
        #expect(story.found(.bruteForce).count == 1)
        #expect(finding.about == .account(FindingStory.account(1)))
        #expect(finding.positions == Array(1...10))
        #expect(finding.level == .medium)
        #expect(finding.counts == [.failures: 10, .sources: 5])
    }

    @Test func `nine failures, or four networks, or a longer time are no brute force`() {
        #expect(bruteForce(failures: 9, sources: 5).found(.bruteForce).isEmpty)
        #expect(bruteForce(failures: 10, sources: 4).found(.bruteForce).isEmpty)
        #expect(bruteForce(failures: 10, sources: 5, within: 1801).found(.bruteForce).isEmpty)
    }

    @Test func `what is refused though it was no guess is not counted`() {
        for reason in ["second_factor_required", "account_blocked", "stronger_sign_in_needed"] {
            var story = FindingStory()
            for index in 0..<20 {
                story.fail(1, from: "source\(index % 5)", at: Int64(index), because: reason)
            }
            #expect(story.found(.bruteForce).isEmpty, "\(reason)")
        }
    }

    @Test func `a rule with other thresholds finds by those, and one that is off finds nothing`()
        throws
    {
        var story = FindingStory(try FindingTerms(.bruteForce, ["failures": 4, "sources": 2]))
        for index in 0..<3 { story.fail(1, from: "source\(index % 2)", at: Int64(index)) }
        #expect(story.found(.bruteForce).isEmpty)
        story.fail(1, from: "source1", at: 4)
        #expect(story.found(.bruteForce).count == 1)

        var quiet = FindingStory(try .off(.bruteForce))
        for index in 0..<50 { quiet.fail(1, from: "source\(index % 9)", at: Int64(index)) }
        #expect(quiet.found(.bruteForce).isEmpty)
    }

    // MARK: - Stuffing

    /// - Parameter tries: by account.
    private func stuffing(_ tries: [Int], within seconds: Int64 = 900) -> FindingStory {
        var story = FindingStory()
        let all = tries.enumerated().flatMap { Array(repeating: $0.offset, count: $0.element) }
        for (index, account) in all.enumerated() {
            let at = seconds * Int64(index) / Int64(max(1, all.count - 1))
            story.fail(account, from: "botnet", at: at)
        }
        return story
    }

    @Test func `one network that tries fifteen accounts once or twice is found`() throws {
        let story = stuffing(Array(repeating: 2, count: 10) + Array(repeating: 1, count: 5))
        let finding = try #require(story.found(.credentialStuffing).first)
        #expect(finding.about == .source("botnet"))
        #expect(finding.positions.count == 25)
        #expect(finding.counts == [.tries: 25, .accounts: 15])
        #expect(finding.level == .high)
    }

    @Test func `fewer tries, fewer accounts, more tries on each or a longer time are no stuffing`()
    {
        let enough = Array(repeating: 2, count: 10) + Array(repeating: 1, count: 5)
        let fewTries = Array(repeating: 2, count: 9) + Array(repeating: 1, count: 6)
        #expect(stuffing(fewTries).found(.credentialStuffing).isEmpty)
        let fewAccounts = Array(repeating: 2, count: 11) + Array(repeating: 1, count: 3)
        #expect(stuffing(fewAccounts).found(.credentialStuffing).isEmpty)
        // Of fifteen accounts eleven, which is less than four of five, had two tries at most.
        let many =
            Array(repeating: 3, count: 4) + Array(repeating: 2, count: 2)
            + Array(repeating: 1, count: 9)
        #expect(many.reduce(0, +) == 25)
        #expect(stuffing(many).found(.credentialStuffing).isEmpty)
        #expect(stuffing(enough, within: 901).found(.credentialStuffing).isEmpty)
    }

    // MARK: - Spraying

    private func spraying(
        accounts: Int, each: Int, within seconds: Int64 = 300, without: Int = 0
    ) -> FindingStory {
        var story = FindingStory()
        let count = accounts * each - without
        for index in 0..<count {
            let at = seconds * Int64(index) / Int64(max(1, count - 1))
            story.fail(index % accounts, from: "sprayer", at: at)
        }
        return story
    }

    @Test func `one network that guesses three times at each of five accounts is found`() throws {
        let story = spraying(accounts: 5, each: 3)
        let finding = try #require(story.found(.passwordSpraying).first)
        #expect(finding.about == .source("sprayer"))
        #expect(finding.counts == [.tries: 15, .accounts: 5])
    }

    @Test
    func `fewer accounts, fewer tries, too few or many on each, or a short time are no spraying`() {
        #expect(spraying(accounts: 4, each: 4).found(.passwordSpraying).isEmpty)
        #expect(spraying(accounts: 5, each: 3, without: 1).found(.passwordSpraying).isEmpty)
        #expect(spraying(accounts: 15, each: 1).found(.passwordSpraying).isEmpty)
        #expect(spraying(accounts: 5, each: 3, within: 299).found(.passwordSpraying).isEmpty)
        #expect(spraying(accounts: 5, each: 3, within: 3601).found(.passwordSpraying).isEmpty)
        // Nine at each of them, one account after the other: no five are between two and eight at once.
        var story = FindingStory()
        for index in 0..<36 { story.fail(index / 9, from: "sprayer", at: Int64(index) * 20) }
        #expect(story.found(.passwordSpraying).isEmpty)
    }

    private func distributed(
        accounts: Int, sources: Int, tries: Int, within seconds: Int64 = 900
    ) -> FindingStory {
        var story = FindingStory()
        for index in 0..<tries {
            let at = seconds * Int64(index) / Int64(max(1, tries - 1))
            story.fail(index % accounts, from: "source\(index % sources)", at: at)
        }
        return story
    }

    @Test func `many accounts that several networks try a little are found`() throws {
        let story = distributed(accounts: 8, sources: 5, tries: 25)
        let finding = try #require(story.found(.distributedSpraying).first)
        #expect(finding.about == .realm)
        #expect(finding.positions == Array(1...25))
        #expect(finding.counts == [.tries: 25, .accounts: 8, .sources: 5])
    }

    @Test func `fewer accounts, networks or tries, or a longer time are no distributed spraying`() {
        #expect(
            distributed(accounts: 7, sources: 5, tries: 25).found(.distributedSpraying).isEmpty)
        #expect(
            distributed(accounts: 8, sources: 4, tries: 25).found(.distributedSpraying).isEmpty)
        #expect(
            distributed(accounts: 8, sources: 5, tries: 24).found(.distributedSpraying).isEmpty)
        #expect(
            distributed(accounts: 8, sources: 5, tries: 25, within: 901)
                .found(.distributedSpraying).isEmpty)
        // Six on each of five accounts: none of them counts.
        #expect(
            distributed(accounts: 5, sources: 5, tries: 30).found(.distributedSpraying).isEmpty)
    }

    // MARK: - Lock-outs

    @Test func `three rests after wrong guesses within three hours are found`() throws {
        var story = FindingStory()
        for index in 0..<6 { story.guess(1, at: Int64(index) * 60) }
        #expect(story.found(.lockOuts).isEmpty)
        story.guess(1, at: 4 * 60 + 10_800)
        let finding = try #require(story.found(.lockOuts).first)
        #expect(finding.about == .account(FindingStory.account(1)))
        #expect(finding.positions == [5, 6, 7])
    }

    @Test func `rests that lie further apart, or with a right passphrase between, are not found`() {
        var late = FindingStory()
        for index in 0..<6 { late.guess(1, at: Int64(index) * 60) }
        late.guess(1, at: 4 * 60 + 10_801)
        #expect(late.found(.lockOuts).isEmpty)

        var right = FindingStory()
        for index in 0..<6 { right.guess(1, at: Int64(index)) }
        right.add(
            PassphraseEvent.used, in: Passphrase.stream(of: FindingStory.account(1)), at: 10,
            of: FindingStory.account(1))
        for index in 0..<4 { right.guess(1, at: 20 + Int64(index)) }
        #expect(right.found(.lockOuts).isEmpty)
    }

    // MARK: - Success after it

    @Test
    func `a sign-in to an attacked account within six hours is found, and is worse from there`()
        throws
    {
        var story = bruteForce(failures: 10, sources: 5)
        story.signIn(2, at: 1900)
        #expect(story.found(.signInAfterAttack).isEmpty)
        story.signIn(1, from: "home", at: 1800 + 21_600)
        let finding = try #require(story.found(.signInAfterAttack).first)
        #expect(finding.level == .medium)
        #expect(finding.positions == [10, Int64(story.events.count - 1)])

        var worse = bruteForce(failures: 10, sources: 5)
        worse.signIn(1, from: "source3", at: 1900)
        #expect(worse.found(.signInAfterAttack).map(\.level) == [.high])
    }

    @Test
    func `a sign-in to an account of a distributed attack is worse from each of its networks`() {
        // Account 7 was tried from source 2 and nowhere else.
        func story(signIn source: String, at seconds: Int64) -> FindingStory {
            var story = distributed(accounts: 8, sources: 5, tries: 25)
            story.signIn(7, from: source, at: seconds)
            return story
        }
        for source in (0..<5).map({ "source\($0)" }) {
            let found = story(signIn: source, at: 1000).found(.signInAfterAttack)
            #expect(found.map(\.level) == [.high], "\(source)")
        }
        #expect(story(signIn: "home", at: 1000).found(.signInAfterAttack).map(\.level) == [.medium])
        #expect(story(signIn: "source0", at: 900 + 21_601).found(.signInAfterAttack).isEmpty)

        // An attack of another kind on another account does not come from these networks.
        var other = bruteForce(failures: 10, sources: 5, within: 60)
        for index in 0..<25 {
            other.fail(10 + index % 8, from: "spread\(index % 5)", at: 61 + Int64(index))
        }
        #expect(other.found(.distributedSpraying).count == 1)
        other.signIn(1, from: "spread2", at: 100)
        #expect(other.found(.signInAfterAttack).map(\.level) == [.medium])
    }

    @Test func `a sign-in after six hours, or where there was no attack, is not found`() {
        var story = bruteForce(failures: 10, sources: 5)
        story.signIn(1, at: 1800 + 21_601)
        #expect(story.found(.signInAfterAttack).isEmpty)
        var none = bruteForce(failures: 9, sources: 5)
        none.signIn(1, at: 1900)
        #expect(none.found(.signInAfterAttack).isEmpty)
    }
}
