internal import Cryptography
internal import HTTP
internal import Identity
internal import Values

/// A PIN: a few digits, which are as safe as the number of guesses is small.
enum TenantPIN {
    static let length = 4...12

    /// Nil for a PIN that is among the first guesses.
    static func check(_ text: String) -> String? {
        let digits = Array(text.utf8)
        guard length.contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        let steps = Set(zip(digits.dropFirst(), digits).map { Int($0) - Int($1) })
        guard steps != [0], steps != [1], steps != [-1] else { return nil }
        return text
    }

    static let wrongForm = Problem(
        .invalidRequest,
        "A PIN has \(length.lowerBound) to \(length.upperBound) digits, which are not all alike and not in a row."
    )
}

extension Call<RealmContext> {
    /// What the log is to keep of a new PIN.
    func hash(ofPIN text: String?, of account: UUID) async throws(Problem) -> String {
        guard let text = text.flatMap(TenantPIN.check) else { throw TenantPIN.wrongForm }
        do {
            return try await context.passphrases.hash(
                SecretBytes(Array(text.utf8)), Passphrases(self).turn(about: account))
        } catch {
            throw Problem(.busy)
        }
    }

    /// The comparison takes as long without a PIN.
    func compare(
        pin text: String, of account: UUID, with methods: TenantMethods
    ) async throws(Problem) -> PINComparison {
        let kept = methods.pin
        let isRight: Bool
        do {
            isRight = try await context.passphrases.verify(
                SecretBytes(Array(text.utf8.prefix(64))), kept,
                Passphrases(self).turn(about: account))
        } catch {
            throw Problem(.busy)
        }
        guard let kept else { return .nothing }
        return isRight ? .right(hash: kept) : .wrong(hash: kept)
    }
}

extension TenantMethodRejection {
    var problem: Problem {
        switch self {
        case .notWelcome, .signInTooOld: Call<RealmContext>.needsSignIn
        case .keyTaken: Problem(.invalidRequest, "This key is already enrolled.")
        case .tooMany:
            Problem(
                .invalidRequest,
                "There are \(TenantMethods.mostKeys) keys already: remove one first (enrolled: false)."
            )
        case .notEnrolled: Problem(.invalidRequest, "This method is not enrolled.")
        case .pinNeeded, .wrongPIN:
            Problem(.invalidGrant, "current_code must be the PIN that there is.")
        case .pinLocked:
            Problem(.invalidGrant, "The PIN is locked after too many wrong ones: reset it.")
        }
    }
}
