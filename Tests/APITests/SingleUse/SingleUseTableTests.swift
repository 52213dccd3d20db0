import HTTP
import JSON
import Testing

@testable import API

/// The first table of docs/single-use.md, row by row.
@Suite struct `What is used once` {
    @Test func `docs/single-use.md has a row for each thing that is used once, and no other`()
        throws
    {
        let rows = try DocumentTable.rows(of: "single-use.md", under: "thing")
        #expect(rows.map { $0[0] } == SingleUseRow.allCases.map(\.rawValue))
        #expect(rows.allSatisfy { $0.count == 4 })
    }

    @Test func `all that requests use up stands in a row, with tests that there are`() {
        #expect(
            SingleUseRow.allCases.flatMap(\.items).sorted { $0.rawValue < $1.rawValue }
                == SingleUseItem.allCases.sorted { $0.rawValue < $1.rawValue })
        for row in SingleUseRow.allCases {
            #expect(!row.items.isEmpty || !row.testsElsewhere.isEmpty, "\(row)")
            for name in row.testsElsewhere {
                #expect(DocumentTable.testNames.contains(name), "\(name)")
            }
        }
    }

    /// What a caller can tell of an answer.
    private struct Shape: Equatable {
        let status: Int
        let isSignedIn: Bool
        let place: String?

        init(_ answer: Response) {
            status = answer.status.code
            isSignedIn = answer.headers.all("Set-Cookie").contains {
                $0.contains("=") && !$0.contains("Max-Age=0")
            }
            place = answer.headers["Location"]?.split(separator: "?").first.map(String.init)
        }
    }

    @Test(arguments: SingleUseRow.allCases.flatMap(\.items))
    func `what is used once is good once, also at two nodes at once`(item: SingleUseItem)
        async throws
    {
        let alone = try await item.prepare()
        let good = Shape(try await alone.use())
        #expect(good.status < 400)
        let again = Shape(try await alone.use())
        // Where nobody is told, the item itself tells the two apart.
        #expect(!alone.isTold || again != good, "\(again)")
        for _ in 0..<5 {
            let thing = try await item.prepare()
            let other = thing.world.otherNode()
            async let first = thing.use()
            async let second = SignInWorld.$otherNode.withValue(other) { try await thing.use() }
            let answers = [Shape(try await first), Shape(try await second)]
            guard thing.isTold else {
                #expect(try await thing.world.events().count { $0 == "otp.issued" } == 1)
                continue
            }
            #expect(answers.count { $0 == good } == 1, "\(answers)")
        }
    }

    @Test(arguments: SingleUseRefusal.allCases)
    func `what a refusal leaves of a thing that is used once is what its row says`(
        refusal: SingleUseRefusal
    ) async throws {
        let (refused, later) = try await refusal.walk()
        #expect(refused.status.code >= 400, "\(refused.json)")
        #expect((later.status == .ok) == refusal.leavesItGood, "\(later.json)")
    }
}
