/// What may follow the words that stand on the command line, as a script for a shell.
struct CompletionScript {
    static let shells = ["bash", "zsh", "fish"]

    /// Below each beginning of a command its next words, and below a whole command its options.
    private let next: [(path: String, words: [String])]

    init(of forms: [CommandForm]) {
        var words: [String: [String]] = ["": ["help"], "help": HelpText.topics]
        for form in forms {
            for length in form.path.indices {
                let path = form.path[..<length].joined(separator: " ")
                if words[path]?.contains(form.path[length]) != true {
                    words[path, default: []].append(form.path[length])
                }
            }
            words[form.name, default: []] += (form.allOptions + [.help]).map { "--\($0.name)" }
            if form.path == Completion.path { words[form.name, default: []] += Self.shells }
        }
        next = words.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    func text(for shell: String) -> String? {
        switch shell {
        case "bash": bash
        case "zsh": zsh
        case "fish": fish
        default: nil
        }
    }

    /// The words behind the ones in `$line`, in `$found`; an operand is skipped from the right.
    private var cases: String {
        let arms = next.map {
            "        \"\($0.path)\") found=\"\($0.words.joined(separator: " "))\" ;;"
        }
        return """
                while :; do
                    case "$line" in
            \(arms.joined(separator: "\n"))
                    *" "*) line="${line% *}"; continue ;;
                    esac
                    break
                done
            """
    }

    private var bash: String {
        """
        # bash completion of urd
        _urd() {
            local line="" found="" i
            for ((i = 1; i < COMP_CWORD; i++)); do
                [[ ${COMP_WORDS[i]} == -* ]] && break
                line="${line:+$line }${COMP_WORDS[i]}"
            done
        \(cases)
            COMPREPLY=($(compgen -W "$found" -- "${COMP_WORDS[COMP_CWORD]}"))
        }
        complete -o default -F _urd urd
        """
    }

    private var zsh: String {
        """
        #compdef urd
        _urd() {
            local line="" found="" i
            for ((i = 2; i < CURRENT; i++)); do
                [[ ${words[i]} == -* ]] && break
                line="${line:+$line }${words[i]}"
            done
        \(cases)
            compadd -- ${=found}
        }
        _urd "$@"
        """
    }

    private var fish: String {
        let lines = next.map { path, words in
            "complete -c urd -f -n \"__urd_behind '\(path)'\" -a '\(words.joined(separator: " "))'"
        }
        return """
            # fish completion of urd
            function __urd_behind
                set -l line
                for word in (commandline -opc)[2..-1]
                    string match -q -- '-*' $word; and break
                    set line $line $word
                end
                test "$line" = "$argv"
            end
            \(lines.joined(separator: "\n"))
            """
    }
}
