import Testing
import Values

@testable import API
@testable import urd

@Suite struct `The inbox of a development run` {
    private let inbox = Inbox()

    private func letter(to address: String) -> Letter { .sample(to: address) }

    @Test func `the development inbox gives a mail to its waiter as soon as it arrives`()
        async throws
    {
        let (inbox, one) = (inbox, letter(to: "ann@example.org"))
        async let first = inbox.letters(to: "ann@example.org", after: nil, within: .seconds(30))
        async let second = inbox.letters(to: "ann@example.org", after: nil, within: .seconds(30))
        async let other = inbox.letters(
            to: "bob@example.org", after: nil, within: .milliseconds(50))
        #expect(await other.isEmpty)
        _ = await inbox.carry(one, as: .zero)
        #expect(await first.count == 1)
        #expect(await second.count == 1)
    }

    @Test func `the development inbox returns a mail that is there at once`() async throws {
        _ = await inbox.carry(letter(to: "ann@example.org"), as: .zero)
        let began = ContinuousClock.now
        #expect(
            await inbox.letters(to: "ann@example.org", after: nil, within: .seconds(30)).count == 1)
        #expect(ContinuousClock.now - began < .seconds(20))
    }

    @Test func `the development inbox waits for a mail newer than the known one`() async throws {
        let (inbox, one) = (inbox, letter(to: "ann@example.org"))
        let (older, newer) = (UUID(high: 0, low: 1), UUID(high: 0, low: 2))
        _ = await inbox.carry(one, as: older)
        async let next = inbox.letters(to: "ann@example.org", after: older, within: .seconds(30))
        async let none = inbox.letters(
            to: "ann@example.org", after: older, within: .milliseconds(50))
        #expect(await none.isEmpty)
        _ = await inbox.carry(one, as: newer)
        #expect(await next.map(\.id) == [newer])
        #expect(inbox.letters(to: "ann@example.org", after: nil).map(\.id) == [newer, older])
        #expect(inbox.letters(to: nil, after: older).map(\.id) == [newer])
    }
}
