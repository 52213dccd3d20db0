import Foundation
import Testing

@testable import API

/// The table in docs/derived-secrets.md: what becomes of everything that is derived when the key is
/// replaced, and when the old one is retired.
@Suite struct `Derived secrets` {
    /// One realm's keys in the order in which they are replaced.
    private struct Phases {
        let before: TokenMint
        let announced: TokenMint
        let during: TokenMint
        let after: TokenMint

        init() {
            let keys = DerivedKeys()
            before = keys.mint
            keys.announce()
            announced = keys.mint
            keys.adopt()
            during = keys.mint
            keys.retire()
            after = keys.mint
        }
    }

    @Test(arguments: DerivedPurpose.allCases)
    func `a derived secret is accepted until its key is retired; names stay for good`(
        purpose: DerivedPurpose
    ) throws {
        let make = try #require(DerivedMakers.all()[purpose], "say how it is made")
        let phases = Phases()
        let isName = purpose.kind == .name

        let old = make(phases.before)
        #expect(old(phases.before))
        #expect(old(phases.announced))
        #expect(old(phases.during))
        #expect(old(phases.after) == isName)
        #expect(!old(DerivedKeys().mint), "of another realm")

        // Of a node that knows already that the new one is in use.
        let new = make(phases.during)
        #expect(new(phases.announced))
        #expect(new(phases.during))
        #expect(new(phases.after))
        #expect(new(phases.before) == isName)
        // Until then it is made under the old one.
        #expect(make(phases.announced)(phases.before))
    }

    @Test func `every purpose of a derived secret stands in the table with its kind`() throws {
        let page = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../docs/derived-secrets.md")
        let rows = try String(contentsOf: page, encoding: .utf8).components(separatedBy: "\n")
            .filter { $0.hasPrefix("| `") }
            .map { row in
                row.components(separatedBy: "|").map {
                    $0.trimmingCharacters(in: CharacterSet(charactersIn: " `"))
                }
            }
        let told = rows.map { "\($0[1]): \($0[2])" }
        #expect(
            told.sorted()
                == DerivedPurpose.allCases.map { "\($0.rawValue): \($0.kind.rawValue)" }.sorted())
    }
}
