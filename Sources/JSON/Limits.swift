extension JSON {
    /// The limits of the JSON parser.
    public struct Limits: Sendable {
        /// How many arrays and objects may stand inside each other; never more than 512, because
        /// values are read, written and released by recursion.
        public let depth: Int
        /// How long the text may be, in bytes.
        public let size: Int
        /// Whether texts may have the null character, which PostgreSQL keeps in none.
        public let takesNull: Bool

        /// Whether numbers that are no integers which every reader keeps are read as texts, instead of refused.
        public let takesFractions: Bool

        public static let `default` = Limits(depth: 64, size: 4 << 20)
        /// For what other servers say: a number that means nothing here, such as a score or a time zone, makes
        /// none of the rest unreadable.
        public static let foreign = Limits(takesFractions: true)

        public init(
            depth: Int = 64, size: Int = 4 << 20, takesNull: Bool = true,
            takesFractions: Bool = false
        ) {
            self.depth = min(depth, 512)
            self.size = size
            self.takesNull = takesNull
            self.takesFractions = takesFractions
        }
    }
}
