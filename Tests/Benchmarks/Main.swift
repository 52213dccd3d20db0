import Glibc

/// Measures Urd beside the machine that it runs on. Each figure stands next to a limit that was
/// measured in the same run, a slice of one after a slice of the other, because machines are noisy.
@main
struct Main {
    static func main() async {
        do {
            let options = try Options(Array(CommandLine.arguments.dropFirst()))
            if let text = options.answer {
                print(text)
                return
            }
            if let folder = options.counts {
                return try await InstructionCount(options: options, folder: folder).run()
            }
            let figures = try await Figures.measure(options) { say(Report.line($0)) }
            print(Report.table(figures))
            if let path = options.json { try Report.write(figures, to: path) }
        } catch {
            say("urd-bench: \(error)")
            exit(1)
        }
    }
}

/// A line for people who wait.
func say(_ text: String) {
    let line = Array((text + "\n").utf8)
    _ = line.withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
}
