/// Finds the known name that is nearest to a mistyped one (edit distance).
public enum NearestName {
    /// The known name with the fewest edits away, if that is few enough to be a slip.
    public static func find(_ name: String, among known: [String]) -> String? {
        let limit = max(1, min(3, name.utf8.count / 3))
        var best: (name: String, distance: Int)?
        for candidate in known.sorted() {
            let distance = editDistance(Array(name.utf8.prefix(64)), Array(candidate.utf8))
            if distance <= limit, distance < best?.distance ?? Int.max {
                best = (candidate, distance)
            }
        }
        return best?.name
    }

    public static func hint(for name: String, among known: [String], prefix: String = "") -> String
    {
        find(name, among: known).map { "; did you mean \(prefix)\($0)?" } ?? ""
    }

    /// The suggestion as a sentence of its own.
    public static func question(for name: String, among known: [String]) -> String {
        find(name, among: known).map { " Did you mean '\($0)'?" } ?? ""
    }

    /// Insertions, removals, replacements and swaps of neighbours (optimal string alignment).
    public static func editDistance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var beforePrevious: [Int] = []
        var previous = Array(0...right.count)
        for row in left.indices {
            var current = [row + 1]
            for column in right.indices {
                let same = left[row] == right[column]
                var cost = min(
                    previous[column] + (same ? 0 : 1), previous[column + 1] + 1, current[column] + 1
                )
                if row > 0, column > 0, left[row] == right[column - 1],
                    left[row - 1] == right[column]
                {
                    cost = min(cost, beforePrevious[column - 1] + 1)
                }
                current.append(cost)
            }
            beforePrevious = previous
            previous = current
        }
        return previous[right.count]
    }
}
