import Glibc
import JSON

/// Where a command writes: results to the output, all else to the error output.
struct Console: Sendable {
    enum Stream: Sendable { case output, error }

    private let pass: @Sendable ([UInt8], Stream) throws(SystemFailure) -> Void
    private let output = OutputFate()
    let errorIsTerminal: Bool
    let errorWidth: @Sendable () -> Int
    private let inputIsTerminal: Bool
    /// The next line of the input, without its end; nil where the input has ended. Blocks.
    let readLine: @Sendable () -> String?

    init(
        errorIsTerminal: Bool = false, errorWidth: @escaping @Sendable () -> Int = { 80 },
        inputIsTerminal: Bool = false, readLine: @escaping @Sendable () -> String? = { nil },
        send: @escaping @Sendable ([UInt8], Stream) throws(SystemFailure) -> Void
    ) {
        pass = send
        self.errorIsTerminal = errorIsTerminal
        self.errorWidth = errorWidth
        self.inputIsTerminal = inputIsTerminal
        self.readLine = readLine
    }

    static let standard = Console(
        errorIsTerminal: isatty(STDERR_FILENO) == 1, errorWidth: { Console.terminalWidth() },
        inputIsTerminal: isatty(STDIN_FILENO) == 1, readLine: { Swift.readLine() },
        send: { bytes, stream throws(SystemFailure) in
            switch stream {
            case .output: try Descriptor.write(bytes, to: STDOUT_FILENO, "the output")
            case .error: Descriptor.writeAll(bytes, to: STDERR_FILENO)
            }
        })

    /// Whether a person sees a question and can answer it.
    var canAsk: Bool { inputIsTerminal && errorIsTerminal }

    /// A question, with the cursor left behind it.
    func prompt(_ text: String) {
        send(Array(Printable.text(text).utf8), .error)
    }

    /// Why not all of the results could be written.
    var outputFailure: SystemFailure? { output.failure }

    func send(_ bytes: [UInt8], _ stream: Stream) {
        if stream == .output, output.isLost { return }
        do throws(SystemFailure) {
            try pass(bytes, stream)
        } catch {
            if stream == .output { output.lose(by: error) }
        }
    }

    /// For commands that write a lot: they end when the output can take no more.
    func checkOutput() throws(OutputLost) {
        if output.isLost { throw OutputLost() }
    }

    /// One result, or several lines of one.
    func write(_ text: String) {
        send(Array(Printable.text(text).utf8) + [10], .output)
    }

    func write(_ json: JSON) {
        send(Array(json.pretty().utf8) + [10], .output)
    }

    /// Rows for programs and spreadsheets.
    func write(_ rows: CSV) {
        send(rows.bytes, .output)
    }

    /// One JSON value a line: for what goes on and on.
    func writeLine(_ json: JSON) {
        send(json.canonical() + [10], .output)
    }

    /// A table for people, or the same for programs.
    func write(_ table: @autoclosure () -> Table, json: @autoclosure () -> JSON, asJSON: Bool) {
        if asJSON { write(json()) } else { write(table().render(width: Table.width)) }
    }

    /// Said to the person at the terminal; never part of a result.
    func complain(_ text: String) {
        send(Array(Printable.text(text).utf8) + [10], .error)
    }

    func complain(_ json: JSON) {
        send(json.canonical() + [10], .error)
    }

    private static func terminalWidth() -> Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}

/// Text that a terminal only shows.
///
/// Printed text may come from any client that can send a request; an escape sequence in it could
/// rewrite what the operator sees. Control characters and direction overrides are shown as codes.
enum Printable {
    static func text(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { isUnsafe($0) }) else { return text }
        var shown = ""
        for scalar in text.unicodeScalars {
            if isUnsafe(scalar) {
                shown += "\\u{" + String(scalar.value, radix: 16) + "}"
            } else {
                shown.unicodeScalars.append(scalar)
            }
        }
        return shown
    }

    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A: false
        case 0...0x1F, 0x7F...0x9F: true
        case 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF: true
        default: false
        }
    }
}
