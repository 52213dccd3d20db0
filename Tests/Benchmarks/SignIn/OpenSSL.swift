/// What `openssl speed` says of a way to sign: the most that anybody could do here.
enum OpenSSL {
    static func speed(
        _ algorithm: String, processes: Int = 1, seconds: Int = 2
    ) throws -> (signed: Double, verified: Double) {
        let text = try Program(
            ["openssl", "speed", "-elapsed", "-seconds", "\(seconds)"]
                + (processes > 1 ? ["-multi", "\(processes)"] : []) + [algorithm]
        ).run()
        let rates = text.split(separator: "\n").last?.split(separator: " ").suffix(2)
            .compactMap { Double($0) }
        guard let rates, rates.count == 2 else {
            throw BenchmarkFailure("openssl said:\n\(text)")
        }
        return (rates[0], rates[1])
    }
}
