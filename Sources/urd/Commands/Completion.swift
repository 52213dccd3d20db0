import Values

/// Prints what a shell needs to complete the commands and options of `urd`.
struct Completion: Subcommand {
    static let path = ["completion"]
    static let summary = "Print the completion script for bash, zsh or fish"
    static let examples = ["urd completion bash >urd.bash"]
    static let details = """
        bash: source <(urd completion bash), in ~/.bashrc.
        zsh: urd completion zsh >_urd, in a folder of $fpath.
        fish: urd completion fish >~/.config/fish/completions/urd.fish
        """
    static let operands = [Operand("shell", "bash, zsh or fish")]

    func run(_ call: Invocation) async throws -> ExitCode {
        let shell = call.arguments.operand("shell") ?? ""
        guard let script = CompletionScript(of: Commands.all.map(\.form)).text(for: shell) else {
            throw UsageError(
                "there is no completion for '\(shell)'"
                    + NearestName.hint(for: shell, among: CompletionScript.shells)
                    + "; there is one for \(CompletionScript.shells.joined(separator: ", "))")
        }
        call.console.write(script)
        return .success
    }
}
