extension JSON {
    /// What a reader lets in.
    public struct Limits: Sendable {
        /// How many arrays and objects may stand inside each other; never more than 512, because
        /// values are read, written and released by recursion.
        public let depth: Int
        /// How long the text may be, in bytes.
        public let size: Int
        /// Whether texts may have the null character, which PostgreSQL keeps in none.
        public let takesNull: Bool

        public static let `default` = Limits(depth: 64, size: 4 << 20)

        public init(depth: Int = 64, size: Int = 4 << 20, takesNull: Bool = true) {
            self.depth = min(depth, 512)
            self.size = size
            self.takesNull = takesNull
        }
    }
}
