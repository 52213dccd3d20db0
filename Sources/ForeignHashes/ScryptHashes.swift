internal import Cryptography

/// scrypt (RFC 7914): `$scrypt$ln=16,r=8,p=1$salt$key`, and `scrypt$65536$8$1$salt$key`.
struct ScryptHash: HashScheme {
    static let prefixes = ["$scrypt$", "scrypt$"]

    private let parameters: Scrypt.Parameters
    private let salt: [UInt8]
    private let key: [UInt8]

    init(_ text: String) throws(ForeignHash.Fault) {
        var fields = HashText.fields(text)[...]
        if fields.first == "" {
            fields = fields.dropFirst(2)
            guard fields.count == 3, let costs = fields.popFirst().flatMap(HashText.parameters),
                costs.count == 3, let exponent = costs["ln"], let blockSize = costs["r"],
                let lanes = costs["p"], exponent > 0
            else { throw .malformed }
            guard exponent <= 22 else { throw .tooExpensive }
            parameters = try Self.parameters(1 << exponent, blockSize, lanes)
        } else {
            fields = fields.dropFirst()
            guard fields.count == 5 else { throw .malformed }
            let numbers = fields.prefix(3).compactMap { HashText.number($0) }
            guard numbers.count == 3 else { throw .malformed }
            parameters = try Self.parameters(numbers[0], numbers[1], numbers[2])
            fields = fields.dropFirst(3)
        }
        guard let salt = fields.first.flatMap({ HashText.bytes($0) }),
            let key = fields.last.flatMap({ HashText.bytes($0) }),
            HashBounds.salt.contains(salt.count), HashBounds.output.contains(key.count)
        else { throw .malformed }
        (self.salt, self.key) = (salt, key)
    }

    static func parameters(
        _ cost: Int, _ blockSize: Int, _ lanes: Int
    ) throws(ForeignHash.Fault) -> Scrypt.Parameters {
        do {
            let parameters = try Scrypt.Parameters(
                cost: cost, blockSize: blockSize, parallelization: lanes)
            guard parameters.memory <= HashBounds.memory,
                parameters.work <= Scrypt.maximumWork / 2
            else { throw ForeignHash.Fault.tooExpensive }
            return parameters
        } catch let failure as Failure {
            throw failure.code == .malformed ? .malformed : .tooExpensive
        } catch {
            throw .tooExpensive
        }
    }

    func verify(_ passphrase: SecretBytes) throws(ForeignHash.Fault) -> Bool {
        do {
            let made = try Scrypt.derive(
                passphrase, salt: salt, parameters: parameters, length: key.count,
                memoryLimit: HashBounds.memory)
            return made == SecretBytes(key)
        } catch {
            throw .library
        }
    }
}

/// Firebase's variant of scrypt, in which what scrypt derives encrypts the project's signer key:
/// `firebase-scrypt$memory$rounds$separator$signer$salt$hash`, memory and rounds as the project's page shows them.
struct FirebaseHash: HashScheme {
    static let prefixes = ["firebase-scrypt$"]

    private let parameters: Scrypt.Parameters
    /// Salt and separator.
    private let salt: [UInt8]
    private let signer: [UInt8]
    private let hash: [UInt8]

    init(_ text: String) throws(ForeignHash.Fault) {
        let fields = HashText.fields(text)
        guard fields.count == 7, let exponent = HashText.number(fields[1]),
            let blockSize = HashText.number(fields[2]), exponent > 0,
            let separator = HashText.bytes(fields[3]), let signer = HashText.bytes(fields[4]),
            let salt = HashText.bytes(fields[5]), let hash = HashText.bytes(fields[6]),
            HashBounds.salt.contains(salt.count), separator.count <= 64,
            (16...HashBounds.output.upperBound).contains(signer.count), hash.count == signer.count
        else { throw .malformed }
        guard exponent <= 22 else { throw .tooExpensive }
        parameters = try ScryptHash.parameters(1 << exponent, blockSize, 1)
        self.salt = salt + separator
        (self.signer, self.hash) = (signer, hash)
    }

    func verify(_ passphrase: SecretBytes) throws(ForeignHash.Fault) -> Bool {
        do {
            let key = try Scrypt.derive(
                passphrase, salt: salt, parameters: parameters, length: AESCTR.keyLength,
                memoryLimit: HashBounds.memory)
            return constantTimeEqual(try AESCTR.encrypt(signer, key: key), hash)
        } catch {
            throw .library
        }
    }
}
