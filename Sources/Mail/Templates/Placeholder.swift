internal import Values

/// What may stand in braces in the words of a mail.
public enum Placeholder: String, Sendable, Hashable, CaseIterable {
    case product, name, code, url, minutes, device, time, hint, title, message, app

    /// Subject and preview are kept by servers and shown on locked screens: no code and no link
    /// belongs there.
    public static func known(in kind: MailKind.Name, _ part: MailText.Part) -> Set<Placeholder> {
        var known: Set<Placeholder> = [.product, .name]
        let isSecret = part == .subject || part == .preview
        switch kind {
        case .emailOtp, .secondFactorCode, .certificationCode, .emailChangeCode, .pinResetCode:
            known.formUnion(isSecret ? [.minutes] : [.minutes, .code])
        case .magicLink, .emailVerification, .passphraseReset:
            known.formUnion(isSecret ? [.minutes] : [.minutes, .url])
        case .accountDeletionAsked: known.formUnion(isSecret ? [.time] : [.time, .url])
        case .ownerInvitation: known.formUnion(isSecret ? [] : [.url])
        case .passphraseHint: known.formUnion(isSecret ? [] : [.hint])
        case .passkeyEnrolled, .passkeyRemoved, .providerConnected, .deviceAdded,
            .deviceCertified:
            known.formUnion([.device, .time])
        case .totpEnrolled, .totpRemoved, .passphraseSet, .pinSet, .passphraseRemoved,
            .passphraseGuessed,
            .totpGuessed,
            .addressChanged, .addressesChanged,
            .signedOutEverywhere,
            .accountDisabled, .accountDeletion:
            known.insert(.time)
        case .subscriberFails, .subscriberStopped: known.formUnion([.app, .time])
        case .notification: known.formUnion(isSecret ? [.title, .app] : [.title, .message, .app])
        }
        return known
    }

    /// The words between braces: letters only, so that any other brace is a brace.
    static func names(in text: String) -> [String] {
        pieces(of: text).compactMap { piece in
            guard case .name(let name) = piece else { return nil }
            return name
        }
    }

    /// Each value goes in once: a brace in a value is a brace.
    static func fill(_ text: String, _ values: [Placeholder: String]) -> String {
        if text.allBytesSatisfy({ $0 != UInt8(ascii: "{") }) { return text }
        var filled = ""
        for piece in pieces(of: text) {
            switch piece {
            case .text(let text): filled += text
            case .name(let name):
                filled += Placeholder(rawValue: name).flatMap { values[$0] } ?? "{\(name)}"
            }
        }
        return filled
    }

    private enum TemplateSegment {
        case text(String)
        case name(String)
    }

    private static func pieces(of text: String) -> [TemplateSegment] {
        var pieces: [TemplateSegment] = []
        var rest = Array(text.utf8)[...]
        while let open = rest.firstIndex(of: UInt8(ascii: "{")) {
            pieces.append(.text(String(decoding: rest[..<open], as: UTF8.self)))
            let name = rest[(open + 1)...].prefix { (0x61...0x7A).contains(lowercased($0)) }
            if !name.isEmpty, name.endIndex < rest.endIndex,
                rest[name.endIndex] == UInt8(ascii: "}")
            {
                pieces.append(.name(String(decoding: name, as: UTF8.self)))
                rest = rest[(name.endIndex + 1)...]
            } else {
                pieces.append(.text("{"))
                rest = rest[(open + 1)...]
            }
        }
        return pieces + [.text(String(decoding: rest, as: UTF8.self))]
    }
}
