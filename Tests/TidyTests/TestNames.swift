extension Repository {
    /// The name of every test: of Swift between its backticks, of Python as the function is called.
    static let testNames: Set<String> = {
        let swift = Pattern("func `([^`]+)`")
        let python = Pattern("def (test_[A-Za-z0-9_]+)")
        return Set(
            Self.swift(in: "Tests").flatMap { swift.matches(in: $0.text) }.map { $0[1] }
                + files(in: "Tests", suffix: ".py").flatMap { python.matches(in: $0.text) }
                .map { $0[1] })
    }()
}
